#include "exec/comm_queue.h"

#include "backend/cpu_places.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CommQueue {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    CommQueueRun *run;
    void *self;
    int *nodes; /* a ring */
    int most, threads;
    int64_t put, done; /* nodes so far */
    bool ends;
    Status status; /* of the first that failed, */
    char message[1024];
};

/* ---- in the thread ---- */

/* False: the queue ends. */
static bool next_node(CommQueue *q, int *node)
{
    pthread_mutex_lock(&q->lock);
    while (q->done == q->put && !q->ends) pthread_cond_wait(&q->changed, &q->lock);
    const bool there = q->done < q->put;
    if (there) *node = q->nodes[q->done % q->most];
    pthread_mutex_unlock(&q->lock);
    return there;
}

static void finish_node(CommQueue *q, Status status)
{
    pthread_mutex_lock(&q->lock);
    if (status != ST_OK && q->status == ST_OK) {
        q->status = status;
        snprintf(q->message, sizeof q->message, "%s", status_message());
    }
    __atomic_store_n(&q->done, q->done + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* After a failure nothing runs: the other ranks wait, and are ended with this one. */
static void *run_queue(void *arg)
{
    CommQueue *q = arg;
    bool failed = false;
    cpu_places_bind(q->threads - 1, q->threads);
    int node = 0;
    while (next_node(q, &node)) {
        const Status status = failed ? ST_OK : q->run(q->self, node);
        failed = failed || status != ST_OK;
        finish_node(q, status);
    }
    return NULL;
}

/* ---- in the others ---- */

Status comm_queue_open(CommQueue **out, CommQueueRun *run, void *self, int most, int threads)
{
    CommQueue *q = calloc(1, sizeof *q);
    int *nodes = malloc(((size_t)most + 1) * sizeof *nodes);
    if (!q || !nodes) {
        free(q);
        free(nodes);
        return NO_MEMORY("for a queue");
    }
    *q =
        (CommQueue){.run = run, .self = self, .nodes = nodes, .most = most + 1, .threads = threads};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    const int code = pthread_create(&q->thread, NULL, run_queue, q);
    if (code == 0) {
        *out = q;
        return ST_OK;
    }
    free(nodes);
    free(q);
    return FAIL(ST_FAILED, "cannot start a thread for communication: %s", strerror(code));
}

void comm_queue_close(CommQueue *q)
{
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->nodes);
    free(q);
}

void comm_queue_put(CommQueue *q, int node)
{
    pthread_mutex_lock(&q->lock);
    q->nodes[q->put % q->most] = node;
    __atomic_store_n(&q->put, q->put + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

bool comm_queue_busy(const CommQueue *q)
{
    return __atomic_load_n(&q->done, __ATOMIC_RELAXED) < __atomic_load_n(&q->put, __ATOMIC_RELAXED);
}

static bool is_pending(const CommQueue *q, int node)
{
    return q->done < q->put && q->nodes[q->done % q->most] <= node;
}

Status comm_queue_wait(CommQueue *q, int node)
{
    pthread_mutex_lock(&q->lock);
    while (is_pending(q, node)) pthread_cond_wait(&q->changed, &q->lock);
    const Status status = q->status;
    pthread_mutex_unlock(&q->lock);
    return status == ST_OK ? ST_OK : FAIL(status, "%s", q->message);
}
