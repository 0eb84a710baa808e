/* Processor time of calls that are too small for a device, in ns: the least of several rounds. See scripts/blas-passed-on.sh. */
#include <stdio.h>
#include <time.h>

enum { CALLS = 200000, ROUNDS = 7, N = 4 };

double ddot_(const int *, const double *, const int *, const double *, const int *);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *, long, long);
void dgetrf_(const int *, const int *, double *, const int *, int *, int *);
void dpotrf_(const char *, const int *, double *, const int *, int *, long);

static int n = N, one = 1, info, pivots[N];
static double a[N * N], b[N * N], c[N * N], half = 0.5, zero = 0, sum;

static void product(void) { dgemm_("N", "N", &n, &n, &n, &half, a, &n, b, &n, &zero, c, &n, 1, 1); }
static void dot(void) { sum += ddot_(&n, a, &one, b, &one); }
static void identity(void) {
    for (int k = 0; k < N * N; k++) {
        c[k] = k % (N + 1) == 0;
    }
}
static void lu(void) { identity(); dgetrf_(&n, &n, c, &n, pivots, &info); }
static void cholesky(void) { identity(); dpotrf_("L", &n, c, &n, &info, 1); }

static void measure(const char *name, void (*call)(void)) {
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        const clock_t began = clock();
        for (int k = 0; k < CALLS; k++) {
            call();
        }
        const double time = (double)(clock() - began) / CLOCKS_PER_SEC / CALLS * 1e9;
        least = time < least ? time : least;
    }
    printf(" %s %.0f", name, least);
}

int main(void) {
    for (int k = 0; k < N * N; k++) {
        a[k] = b[k] = 1.0 / (1 + k);
    }
    printf("ns a call:");
    measure("ddot", dot);
    measure("dgemm", product);
    measure("dpotrf", cholesky);
    measure("dgetrf", lu);
    printf("\n");
    return sum < 0 || info != 0;
}
