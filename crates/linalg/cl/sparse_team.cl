// Parts of vectors between the devices of a team: `vectors` vectors, a row for each component, row after row.

// Row i of gathered = row places[i] of x.
KERNEL gather(const ulong results, const uint vectors, INDICES(places), X, __global element *restrict gathered) {
    const ulong result = get_global_id(0);
    if (result < results) {
        gathered[result] = x[(ulong)places[row_of(result, vectors)] * vectors + vector_of(result, vectors)];
    }
}

// Adds row i of terms to row places[i] of y. Each place comes once.
KERNEL add_at(const ulong results, const uint vectors, INDICES(places), MATRIX(terms), Y) {
    const ulong result = get_global_id(0);
    if (result < results) {
        y[(ulong)places[row_of(result, vectors)] * vectors + vector_of(result, vectors)] += terms[result];
    }
}
