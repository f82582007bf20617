// The verdict is looked for, and then set: another rank may come in between.
// region: libmini/distributed/rendezvous/agreement.cpp 1
    if (!store.check(kVerdict)) store.set(kVerdict, verdict);
    return store.get(kVerdict, deadline_after(kSeatReadTimeout));
