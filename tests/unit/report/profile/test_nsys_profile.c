/* CSV files as nsys stats writes them (headers and rows as real ones have them), taken apart, put
 * together, and spoilt. */
#include "base/rng.h"
#include "bench/record/profile_view.h"
#include "report/format/csv_reader.h"
#include "report/format/table_md.h"
#include "report/profile/nsys_profile.h"
#include "report/profile/profile_tables.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUM "Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)"

static const char kernels[] =
    "Time (%),Total Time (ns),Instances," SUM ",Name\n"
    "50.1,99385786,32,3105805.8,3041179.0,2987340,3777790,216832.4,flash_attention_prefill_f16\n"
    "40.0,80000000,4,20000000.0,20000000.0,20000000,20000000,0.0,\"void ns::gemm<float, 4>(float "
    "const*, int)\"\n";
static const char memory_time[] =
    "Time (%),Total Time (ns),Count," SUM ",Operation\n"
    "90.0,900000,3,300000.0,300000.0,300000,300000,0.0,[CUDA memcpy HtoD]\n"
    "10.0,100000,2,50000.0,50000.0,50000,50000,0.0,[CUDA memset]\n";
static const char memory_size[] =
    "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
    "25.166,3,8.389,8.389,8.389,8.389,0.000,[CUDA memcpy Host-to-Device]\n"
    "1.000,1,1.000,1.000,1.000,1.000,0.000,[CUDA memcpy Device-to-Host]\n";
static const char calls[] =
    "Generating SQLite file report1.sqlite from report1.nsys-rep\n"
    "Processing [report1.sqlite] with [/opt/nsys/reports/cuda_api_sum.py]... \n\n"
    "Num Calls,Name,Unheard Of,Total Time (us)\r\n"
    "40,cudaLaunchKernel,x,\"1,234.5\"\r\n"
    "2,cudaDeviceSynchronize,y,10";
static const char ranges[] =
    "Time (%),Total Time (ns),Instances," SUM ",Style,Range\n"
    "65.9,2782360479,1,2782360479.0,2782360479.0,2782360479,2782360479,0.0,PushPop,:decode\n";
static const char projection[] =
    "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med "
    "(ns),Proj Min (ns),Proj "
    "Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
    ":train_step_15,PushPop,14778326825,14782426230,6,2463054470.8,2463653087.0,2460319109,"
    "2463917150,1386922.4,20798,"
    "3466.3,0.0,8.0\n";
static const char range_kernels[] =
    "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns)," SUM ",Kernel Name\n"
    ":forward,PushPop,1,1,4,32,99385786,3105805.8,3041179.0,2987340,3777790,216832.4,flash_"
    "attention_prefill_f16\n";
static const char grids[] = "Time (%),Total Time (ns),Instances," SUM ",GridXYZ,BlockXYZ,Name\n"
                            "100.0,30,3,10.0,10.0,10,10,0.0,64 1 1,128 1 1,gemm\n";
static const char trace[] =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem "
    "(MB),Bytes "
    "(MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
    "1500,100,2,1,1,1,128,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,7,b\n"
    "1000,100,1,1,1,1,128,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,7,a\n"
    "1620,100,3,1,1,1,128,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,7,a\n"
    "9000,5,4,,,,,,,,,,8.389,100.0,Pageable,Device,NVIDIA H200 (1),1,7,[CUDA memset]\n";
static const char range_trace[] =
    "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild "
    "(ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree\n"
    "10,30,20,0,20,:step,1,1,0,0,1,,:1,step\n"
    "50,80,30,0,30,:step,1,1,0,0,2,,:2,step\n";

static const struct {
    NsysInput input;
    const char *text;
} files[] = {
    {NSYS_INPUT_KERNELS, kernels},
    {NSYS_INPUT_MEMORY_TIME, memory_time},
    {NSYS_INPUT_GRIDS, grids},
    {NSYS_INPUT_CALLS, calls},
    {NSYS_INPUT_RANGES, ranges},
    {NSYS_INPUT_PROJECTION, projection},
    {NSYS_INPUT_RANGE_KERNELS, range_kernels},
    {NSYS_INPUT_TRACE, trace},
    {NSYS_INPUT_RANGE_TRACE, range_trace},
    {NSYS_INPUT_MEMORY_SIZE, memory_size},
};
enum { FILES = sizeof files / sizeof *files };

static Status add(NsysProfile *p, NsysInput input, const char *text, size_t n)
{
    return nsys_profile_add(p, input, "file.csv", text, n);
}

/* The profile of some of the files; the caller frees. */
static json_t *profile_of(const int *which, int n)
{
    NsysProfile *p = NULL;
    json_t *list = json_array();
    assert_int_equal(nsys_profile_open(&p), ST_OK);
    for (int i = 0; i < n; i++) {
        const char *text = files[which[i]].text;
        if (add(p, files[which[i]].input, text, strlen(text)) != ST_OK)
            fail_msg("%s", status_message());
    }
    assert_int_equal(nsys_profile_finish(p, list, "report1_", 7), ST_OK);
    nsys_profile_close(&p);
    return list;
}

static const ViewName *find(const ViewName *names, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i].name, name) == 0) return &names[i];
    }
    fail_msg("no %s", name);
    return NULL;
}

static void test_all(void **state)
{
    (void)state;
    static const int all[FILES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    json_t *list = profile_of(all, FILES);
    ProfileView v;
    assert_int_equal(profile_view_make(&v, json_array_get(list, 0)), ST_OK);
    assert_string_equal(record_text(v.record, "prefix"), "report1");
    assert_int_equal(v.n_names, 5); /* not those of the trace */
    const ViewName *flash = find(v.names, v.n_names, "flash_attention_prefill_f16");
    assert_int_equal(flash->time.n, 32);
    assert_true(flash->time.total == 99385786 && flash->time.avg == 3105805.8 &&
                flash->time.med == 3041179);
    assert_true(flash->time.min == 2987340 && flash->time.max == 3777790 &&
                flash->time.std == 216832.4);
    assert_string_equal(
        find(v.names, v.n_names, "void ns::gemm<float, 4>(float const*, int)")->brief, "gemm");
    const ViewName *copy = find(v.names, v.n_names, "[CUDA memcpy Host-to-Device]");
    assert_string_equal(copy->kind, "copy");
    assert_true(copy->time.total == 900000 && copy->bytes.n == 3 &&
                fabs(copy->bytes.total - 25.166e6) < 1);
    const ViewName *alone = find(v.names, v.n_names, "[CUDA memcpy Device-to-Host]");
    assert_true(alone->time.n == 0 && alone->bytes.total == 1e6);
    assert_string_equal(find(v.names, v.n_names, "[CUDA memset]")->kind, "memset");
    const ViewName *launch = find(v.calls, v.n_calls, "cudaLaunchKernel");
    assert_true(launch->time.n == 40 && launch->time.total == 1234500 &&
                launch->time.avg == 1234500. / 40);
    assert_true(isnan(launch->time.med) && isnan(launch->time.std));
    assert_true(find(v.calls, v.n_calls, "cudaDeviceSynchronize")->time.total ==
                10000); /* cut before its line's end */
    assert_true(find(v.nvtx, v.n_nvtx, "decode")->time.total == 2782360479);
    assert_int_equal(v.n_nvtx, 1);
    assert_true(find(v.projected, v.n_projected, "train_step_15")->ops == 20798);
    assert_string_equal(v.phase_kernels[0].in, "forward");
    assert_int_equal(v.grids[0].time.n, 3);
    assert_string_equal(v.grids[0].name, "gemm, grid 64 1 1, block 128 1 1");
    assert_int_equal(v.device.gaps.time.n, 2); /* none between two devices */
    assert_true(fabs(v.device.gaps.time.max - 400) < 1e-6 &&
                fabs(v.device.gaps.time.total - 420) < 1e-6);
    assert_string_equal(v.device.gaps.after, "a");
    assert_string_equal(v.device.gaps.before, "b");
    assert_true(v.device.compute == 179385786 && v.device.copies == 1000000);
    const json_t *missing = json_array_get(json_object_get(v.record, "missing"), 0);
    assert_string_equal(record_text(missing, "columns"), "Avg, Med, Min, Max, StdDev");
    profile_view_free(&v);
    json_decref(list);
}

/* Without files of sums a trace adds up to the same. */
static void test_traces_alone(void **state)
{
    (void)state;
    static const int traces[] = {7, 8};
    json_t *list = profile_of(traces, 2);
    ProfileView v;
    assert_int_equal(profile_view_make(&v, json_array_get(list, 0)), ST_OK);
    assert_int_equal(v.n_names, 3);
    const ViewName *a = find(v.names, v.n_names, "a");
    assert_true(a->time.n == 2 && fabs(a->time.total - 200) < 1e-6 &&
                fabs(a->time.med - 100) < 1e-6);
    const ViewName *step = find(v.nvtx, v.n_nvtx, "step");
    assert_true(step->time.n == 2 && fabs(step->time.total - 50) < 1e-6);
    profile_view_free(&v);
    json_decref(list);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        NsysInput input;
        size_t prefix;
    } cases[] = {{"report1_cuda_gpu_kern_sum.csv", NSYS_INPUT_KERNELS, 7},
                 {"cuda_gpu_kern_sum.csv", NSYS_INPUT_KERNELS, 0},
                 {"a_b_cuda_gpu_kern_sum_base.csv", NSYS_INPUT_KERNELS_BASE, 3},
                 {"x_nvtx_pushpop_sum.csv", NSYS_INPUT_PUSHPOP, 1},
                 {"nvtx_sum.csv", NSYS_INPUT_RANGES, 0},
                 {"mynvtx_sum.csv", NSYS_INPUT_COUNT, 0},
                 {"x_cuda_gpu_sum.csv", NSYS_INPUT_ALL, 1},
                 {"x_cuda_gpu_kern_sum.csv.gz", NSYS_INPUT_COUNT, 0},
                 {".csv", NSYS_INPUT_COUNT, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t prefix = 0;
        assert_int_equal(nsys_table_input(cases[i].file, &prefix), cases[i].input);
        assert_int_equal(prefix, cases[i].prefix);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "no header: the file is empty"},
        {"Processing [x.sqlite] with [y.py]...\n", "no header"},
        {"a,b\n",
         "line 1: not the header of cuda_gpu_kern_sum: no column Name, Instances, Total Time"},
        {"Name,Total Time (ns)\n", "no column Instances"},
        {"Name,Instances,Total Time (weeks)\n", "the unit of the column 'Total Time' is not known"},
        {"Name,Instances,Total Time (ns)\nk,1\n",
         "line 2: 2 fields where the header has 3: the file is cut short"},
        {"Name,Instances,Total Time (ns)\n\"k,1,1\n",
         "line 2: a quoted field does not end: the file is cut short"},
        {"Name,Instances,Total Time (ns)\nk,1,many\n",
         "line 2: the field 'Total Time' is no number"},
        {"Name,Instances,Total Time (ns)\nk,,1\n", "line 2: the field 'Instances' is no number"},
        {"Name,Instances,Total Time (ns)\nk,1,-1\n", "'Total Time' is no number"},
        {"Name,Instances,Total Time (ns)\nk,1,nan\n", "'Total Time' is no number"},
        {"Name,Instances,Total Time (ns)\nk,1,0x10\n", "'Total Time' is no number"},
        {"Name,Instances,Total Time (ns)\nk,1,\"1,23\"\n", "'Total Time' is no number"},
        {"Name,Instances,Total Time (ns)\nk,1,1e999\n", "'Total Time' is no number"},
        {"Name,Instances,Total Time (s)\nk,1,1e300\n", "larger than any time"},
        {"Name,Instances,Total Time (ns)\nk,1.5,1\n", "'Instances' is no whole number"},
        {"Name,Instances,Total Time (ns)\nk,1e17,1\n", "'Instances' is no whole number"},
        {"Name,Instances,Total Time (ns)\n,1,1\n", "line 2: no name"},
        {"Name,Instances,Total Time (ns)\n\xff\xfe,1,1\n", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NsysProfile *p = NULL;
        assert_int_equal(nsys_profile_open(&p), ST_OK);
        assert_int_equal(add(p, NSYS_INPUT_KERNELS, cases[i].text, strlen(cases[i].text)),
                         ST_USAGE);
        if (!strstr(status_message(), cases[i].says))
            fail_msg("%s: %s", cases[i].text, status_message());
        nsys_profile_close(&p);
    }
    NsysProfile *p = NULL;
    assert_int_equal(nsys_profile_open(&p), ST_OK);
    assert_int_equal(add(p, NSYS_INPUT_KERNELS, "Name,\0,x\n", 9), ST_USAGE);
    assert_non_null(strstr(status_message(), "zero byte"));
    static const char none[] =
        "Processing [x] with [y]...\nSKIPPED: x.sqlite does not contain CUDA kernel data.\n";
    assert_int_equal(add(p, NSYS_INPUT_KERNELS, none, strlen(none)), ST_OK);
    nsys_profile_close(&p);
}

/* ---- whatever the bytes, one line or tables ---- */

static void take_spoilt(NsysInput input, const char *text, size_t n)
{
    NsysProfile *p = NULL;
    json_t *list = json_array();
    Text out = {0};
    const ProfileTables how = {.format = "md", .top = 3};
    assert_int_equal(nsys_profile_open(&p), ST_OK);
    Status status = add(p, input, text, n);
    if (status == ST_OK) status = nsys_profile_finish(p, list, "x", 1);
    if (status == ST_OK) status = profile_nsys_tables_write(&out, &how, list);
    assert_true(status == ST_OK || status == ST_USAGE);
    if (status == ST_USAGE) assert_null(strchr(status_message(), '\n'));
    text_free(&out);
    json_decref(list);
    nsys_profile_close(&p);
}

static void test_spoilt(void **state)
{
    (void)state;
    enum { TRIES = 300 };
    static const char bytes[] = ",\"\n\r\0 0123456789.-e()\xff\xc3[]:";
    uint64_t count = 0;
    for (int f = 0; f < FILES; f++) {
        const size_t n = strlen(files[f].text);
        for (size_t cut = 0; cut < n;
             cut += 1 + n / 200) { /* a copy, so that reading beyond it is seen */
            char *part = malloc(cut + 1);
            memcpy(part, files[f].text, cut);
            take_spoilt(files[f].input, part, cut);
            free(part);
        }
        for (int i = 0; i < TRIES; i++) {
            char *text = malloc(n);
            memcpy(text, files[f].text, n);
            for (int change = 0; change <= i % 8; change++, count++) {
                const int64_t at = rng_below(1, 0, count, (int64_t)n);
                text[at] = bytes[rng_below(2, 0, count, sizeof bytes - 1)];
            }
            take_spoilt(files[f].input, text, n);
            free(text);
        }
    }
}

/* A name of a megabyte, rows and fields by the ten thousand, and noise. */
static void test_huge(void **state)
{
    (void)state;
    Text text = {0};
    text_puts(&text, "Name,Instances,Total Time (ns)\n");
    text_fill(&text, 'k', 1 << 20);
    text_puts(&text, ",1,1\n");
    for (int i = 0; i < 50000; i++) text_printf(&text, "kernel_%d,1,%d\n", i, i);
    take_spoilt(NSYS_INPUT_KERNELS, text_str(&text), text.n);
    take_spoilt(NSYS_INPUT_MEMORY_SIZE, text_str(&text), text.n);
    text_clear(&text);
    text_fill(&text, ',', 100000);
    take_spoilt(NSYS_INPUT_KERNELS, text_str(&text), text.n);
    text_clear(&text);
    for (uint64_t i = 0; i < 100000; i++)
        text_append(&text, &(char){(char)rng_below(3, 0, i, 256)}, 1);
    for (int f = 0; f < FILES; f++) take_spoilt(files[f].input, text_str(&text), text.n);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),    cmocka_unit_test(test_traces_alone),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_spoilt), cmocka_unit_test(test_huge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
