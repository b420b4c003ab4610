"""Who asks over HTTP? An API for programs and a page for people, over one collection.

How a handler gets at the collection, and where work is done:

    context = context_of(request)                 # serving/context.py
    generation = context.held.present             # serving/holding.py; keep it for the whole request
    facts = await context.crew.run(request, describe, generation.kin, row)    # serving/work.py

`present` is the generation that is open now. When another one has been built it is opened beside the old one and takes
its place; a request that began on the old one goes on with it. All its files are open from the start, so that they can
be read when they have been removed. Ask for `present` once in a request, or its parts may not fit together.

Kin may be asked by any number of threads: every thread has a desk of its own, the catalogue's connection may be
shared, and kernels give the interpreter free. What takes longer than about a millisecond goes to the crew, since
nothing else is answered while the event loop works. A handler says what went wrong with `RequestError`
(serving/problems.py); a MisuseError of the library is told as 422.
"""
