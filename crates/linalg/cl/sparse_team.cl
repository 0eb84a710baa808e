// Parts of vectors between the devices of a team.

// gathered[i] = x[places[i]].
KERNEL gather(const uint count, INDICES(places), X, __global element *restrict gathered) {
    const uint i = get_global_id(0);
    if (i < count) {
        gathered[i] = x[places[i]];
    }
}

// y[places[i]] = y[places[i]] + terms[i]. Each place comes once.
KERNEL add_at(const uint count, INDICES(places), MATRIX(terms), Y) {
    const uint i = get_global_id(0);
    if (i < count) {
        y[places[i]] += terms[i];
    }
}
