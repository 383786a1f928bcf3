/* What NCCL is called with, on an NCCL that notes it (fake_nccl.c). Needs no GPU and no MPI: their functions
 * are replaced (--wrap). Usage: test_nccl_comm FAKE */
#include "backend/cuda_backend.h"
#include "comm/nccl_comm.h"
#include "with_cmocka.h"

#include <nccl.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int rank = 1;
static bool local = true;
static char *calls;
static ncclResult_t *async_error;

cudaError_t __wrap_cudaSetDevice(int device);
cudaError_t __wrap_cudaDeviceSynchronize(void);
int __wrap_comm_rank(const Comm *comm);
int __wrap_comm_ranks(const Comm *comm);
bool __wrap_comm_is_local(const Comm *comm);
Status __wrap_comm_broadcast(Comm *comm, void *data, size_t bytes, int root);

static int device_set = -1;

cudaError_t __wrap_cudaSetDevice(int device)
{
    device_set = device;
    return cudaSuccess;
}

cudaError_t __wrap_cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

int __wrap_comm_rank(const Comm *comm)
{
    (void)comm;
    return rank;
}

int __wrap_comm_ranks(const Comm *comm)
{
    (void)comm;
    return 3;
}

bool __wrap_comm_is_local(const Comm *comm)
{
    (void)comm;
    return local;
}

Status __wrap_comm_broadcast(Comm *comm, void *data, size_t bytes, int root)
{
    (void)comm;
    if (rank != root) memset(data, 'b', bytes);
    return ST_OK;
}

#define ASSERT_CALLS(text)                \
    do {                                  \
        assert_string_equal(calls, text); \
        calls[0] = '\0';                  \
    } while (0)

#define OK(call) assert_int_equal((call), ST_OK)

static Backend stream_5 = {.stream = (cudaStream_t)5};

static void *address(intptr_t at)
{
    return (void *)at;
}

static NcclComm *open_rank(int own, bool shared)
{
    NcclComm *n = NULL;
    rank = own;
    calls[0] = '\0';
    OK(nccl_comm_open(&n, NULL, 2, shared));
    return n;
}

static void close_rank(NcclComm *n)
{
    calls[0] = '\0';
    nccl_comm_close(n);
    ASSERT_CALLS("destroy 1 ");
}

static void test_open(void **state)
{
    (void)state;
    unsetenv("NCCL_HOSTID");
    NcclComm *n = open_rank(0, false);
    ASSERT_CALLS("id init 0 of 3 i ");
    assert_int_equal(device_set, 2);
    assert_string_equal(nccl_comm_version(n), "2.28.9");
    assert_null(getenv("NCCL_HOSTID"));
    close_rank(n);
    n = open_rank(1, false);
    ASSERT_CALLS("init 1 of 3 b ");
    close_rank(n);
}

/* What the user has set stays, but for the word that tells ranks apart. */
static void test_shared(void **state)
{
    (void)state;
    setenv("NCCL_HOSTID", "same", 1);
    setenv("NCCL_IB_DISABLE", "0", 1);
    unsetenv("NCCL_SOCKET_IFNAME");
    local = false;
    close_rank(open_rank(2, true));
    assert_string_equal(getenv("NCCL_HOSTID"), "roofstep-rank-2");
    assert_string_equal(getenv("NCCL_IB_DISABLE"), "0");
    assert_null(getenv("NCCL_SOCKET_IFNAME"));
    local = true;
    close_rank(open_rank(2, true));
    assert_string_equal(getenv("NCCL_SOCKET_IFNAME"), "lo");
}

static void test_sums(void **state)
{
    (void)state;
    NcclComm *n = open_rank(1, false);
    calls[0] = '\0';
    OK(nccl_comm_all_reduce(n, &stream_5, address(8), address(9), 10, DT_F32, 1));
    ASSERT_CALLS("all 8>9 x10 t7 o0 s5 ");
    OK(nccl_comm_all_reduce(n, &stream_5, address(8), address(8), 10, DT_BF16, (float)(1 / 3.0)));
    ASSERT_CALLS("all 8>8 x10 t9 o4 s5 "); /* the mean */
    OK(nccl_comm_all_reduce(n, &stream_5, address(8), address(8), 10, DT_F16, 0.5F));
    ASSERT_CALLS("op 3800 all 8>8 x10 t6 o9 s5 end 9 ");
    OK(nccl_comm_all_reduce(n, &stream_5, address(8), address(8), 10, DT_F64, 0.25F));
    ASSERT_CALLS("op 0.25 all 8>8 x10 t8 o9 s5 end 9 ");
    OK(nccl_comm_all_reduce(n, &stream_5, address(8), address(8), 0, DT_F32, 1));
    ASSERT_CALLS("");
    assert_int_equal(nccl_comm_all_reduce(n, &stream_5, address(8), address(8), 1, DT_I32, 1),
                     ST_UNSUPPORTED);
    close_rank(n);
}

/* Of 192 elements each has 64; of 251 two have 96, and the last 59; of 20 the first has all. */
static void test_shards(void **state)
{
    (void)state;
    NcclComm *n = open_rank(1, false);
    calls[0] = '\0';
    OK(nccl_comm_reduce_scatter(n, &stream_5, address(1000), address(9), 192, DT_F32, 1));
    ASSERT_CALLS("scatter 1000>9 x64 t7 o0 s5 ");
    OK(nccl_comm_reduce_scatter(n, &stream_5, address(1000), address(9), 251, DT_F32, 0.5F));
    ASSERT_CALLS("op 0.5 ( reduce 1000>0 x96 t7 o9 r0 s5 reduce 1384>9 x96 t7 o9 r1 s5 "
                 "reduce 1768>0 x59 t7 o9 r2 s5 ) end 9 ");
    OK(nccl_comm_reduce_scatter(n, &stream_5, address(1000), address(9), 20, DT_BF16, 1));
    ASSERT_CALLS("( reduce 1000>0 x20 t9 o0 r0 s5 ) ");
    OK(nccl_comm_all_gather(n, &stream_5, address(9), address(1000), 192, DT_BF16));
    ASSERT_CALLS("gather 9>1000 x128 t1 s5 ");
    OK(nccl_comm_all_gather(n, &stream_5, address(9), address(1000), 251, DT_F32));
    ASSERT_CALLS("( broadcast 1000>1000 x384 t1 r0 s5 broadcast 9>1384 x384 t1 r1 s5 "
                 "broadcast 1768>1768 x236 t1 r2 s5 ) ");
    close_rank(n);
}

static void test_in_place(void **state)
{
    (void)state;
    NcclComm *n = open_rank(2, false);
    calls[0] = '\0';
    OK(nccl_comm_collective(n, &stream_5, COLLECTIVE_ALL_REDUCE, address(1000), 192, DT_F32));
    ASSERT_CALLS("all 1000>1000 x192 t7 o0 s5 ");
    OK(nccl_comm_collective(n, &stream_5, COLLECTIVE_REDUCE_SCATTER, address(1000), 192, DT_F32));
    ASSERT_CALLS("scatter 1000>1512 x64 t7 o0 s5 ");
    OK(nccl_comm_collective(n, &stream_5, COLLECTIVE_ALL_GATHER, address(1000), 192, DT_F32));
    ASSERT_CALLS("gather 1512>1000 x256 t1 s5 ");
    OK(nccl_comm_collective(n, &stream_5, COLLECTIVE_BROADCAST, address(1000), 192, DT_F32));
    ASSERT_CALLS("broadcast 1000>1000 x768 t1 r0 s5 ");
    close_rank(n);
}

/* What became of an earlier call is told by the next. */
static void test_failures(void **state)
{
    (void)state;
    NcclComm *n = open_rank(1, false);
    *async_error = ncclRemoteError;
    assert_int_equal(nccl_comm_broadcast(n, &stream_5, address(8), 4, 0), ST_DEVICE);
    assert_non_null(strstr(status_message(), "remote error (a collective before this one)"));
    *async_error = ncclSuccess;
    assert_int_equal(nccl_comm_broadcast(NULL, &stream_5, address(8), 4, 0), ST_FAILED);
    close_rank(n);
    nccl_comm_close(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),     cmocka_unit_test(test_shared),
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_shards),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_failures),
    };
    void *fake = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!fake) return 1;
    calls = dlsym(fake, "fake_nccl_log");
    async_error = dlsym(fake, "fake_nccl_async");
    setenv("ROOFSTEP_NCCL", argv[1], 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
