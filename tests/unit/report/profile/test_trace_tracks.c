#include "report/profile/trace_tracks.h"
#include "with_cmocka.h"

static void test_lanes(void **state)
{
    (void)state;
    static TraceTracks tracks;
    assert_int_equal(trace_tracks_place(&tracks, 0, 7, 0, 100), 7);
    assert_int_equal(trace_tracks_place(&tracks, 0, 7, 10, 20), 7);  /* within */
    assert_int_equal(trace_tracks_place(&tracks, 0, 7, 20, 100), 7); /* after it, to the same end */
    assert_int_equal(trace_tracks_place(&tracks, 0, 7, 50, 120), 7001); /* across an end */
    assert_int_equal(trace_tracks_place(&tracks, 0, 7, 60, 130), 7002); /* across that one too */
    assert_int_equal(trace_tracks_place(&tracks, 0, 8, 60, 130), 8);    /* another stream */
    assert_int_equal(trace_tracks_place(&tracks, 0, 7, 100, 140), 7);   /* begins where all end */
    assert_int_equal(tracks.n, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
