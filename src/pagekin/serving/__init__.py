"""HTTP server over one collection: a JSON API for programs and web pages for people.

How a handler reaches the collection, and where it computes:

    context = context_of(request)                 # serving/context.py
    generation = context.current.generation       # serving/generations.py; read once per request
    info = await context.threads.run(request, describe, generation.indexed)

`current.generation` is the generation being served. When a new one has been built, it is opened next to the old one and
replaces it; requests that started on the old one finish on it. All its files are open from the start, so they remain
readable after they are deleted. Read `generation` once per request, or parts of the answer may not match.

An `IndexedStore` can be used by any number of threads: each thread has its own scorer, the catalog connection is
shared, and kernels release the GIL. Anything that takes longer than about a millisecond runs in a thread, because the
event loop cannot serve other requests meanwhile. A handler reports a failure with `RequestError` (middleware.py).
"""
