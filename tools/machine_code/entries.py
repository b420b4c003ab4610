"""One kernel for one signature -> an object file with an entry that `runtime.c` calls.

Here is what pagekin knows of numba's calling convention, which numba does not document: the arguments of a compiled
function are a pointer to the result, a pointer to an error, then the parts of every argument. It is checked against the
types that the function has.
"""

import json
import platform
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from pagekin.kernels.compile import Kernel
from pagekin.kernels.signatures import numba_types, plain

# Processors with AVX2 (2013 and later), and all 64-bit ARM processors. `docs/benchmarks.md` has what this costs. A few
# kernels are compiled for AVX-512 as well, where that is much faster: it multiplies vectors of 64-bit numbers.
TARGETS = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}
FEATURES = {
    "x86-64-v3": "+64bit,+cmov,+cx8,+cx16,+fxsr,+mmx,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+sahf,+popcnt,+crc32,"
    "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave",
    "generic": "",
}
WIDE = "x86-64-v4"
WIDE_KERNELS = {"x86-64-v3": ("minhash.sign",)}
FEATURES[WIDE] = FEATURES["x86-64-v3"] + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,-prefer-256-bit"
# What kernels may call: `runtime.c`, the C library, and its mathematical functions.
PROVIDED = re.compile(
    r"llvm\..*|NRT_(Allocate|Free|MemInfo_(call_dtor|alloc_aligned|new_varsize_dtor|varsize_realloc))"
    r"|mem(cpy|move|set)|(exp|expm1|log|log1p|log2|sqrt|tanh|pow|ceil|floor|rint|hypot|atan2)f?"
)


def target() -> str:
    """The processor for which machine code is compiled on this machine."""
    return TARGETS[platform.machine().lower()]


def find_kernel(name: str) -> Kernel:
    module, _, function = name.partition(".")
    found = getattr(import_module(f"pagekin.kernels.{module}"), function)
    assert isinstance(found, Kernel)
    return found


def compile_entry(name: str, signature: str, folder: Path, symbol: str, processor: str) -> None:
    """Compile a kernel for a signature; write `symbol`.o and a description, `symbol`.json, into a folder.

    numba must have been told the processor, by variables of the environment, before it was imported.
    """
    types = numba_types(re.sub(r"r\b", "w", signature))
    dispatcher = find_kernel(name).dispatcher
    dispatcher.compile(types)
    (result,) = (each.return_type for each in dispatcher.nopython_signatures if each.args == types)
    module = llvm.parse_assembly(dispatcher.inspect_llvm(types))
    function = next(each for each in module.functions if is_native(each))
    arguments = allow_read_only(plain(signature), function)
    module.link_in(llvm.parse_assembly(entry_code(function, symbol, module)))
    hide_all_but(module, symbol)
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=processor, features=FEATURES[processor], opt=3, reloc="pic", codemodel="default"
    )
    remove_unused(module, machine)
    unknown = {each.name for each in module.functions if each.is_declaration and not PROVIDED.fullmatch(each.name)}
    if unknown:
        raise NotImplementedError(f"{name} calls {', '.join(sorted(unknown))}, which runtime.c does not have")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{symbol}.o").write_bytes(machine.emit_object(module))
    description = {"name": name, "arguments": arguments, "result": result_token(result), "symbol": symbol}
    (folder / f"{symbol}.json").write_text(json.dumps(description))


def is_native(function: Any) -> bool:
    """Whether it is the compiled kernel: neither its callees nor the wrapper for Python."""
    visible = not function.is_declaration and function.linkage == llvm.Linkage.external
    return visible and not function.name.startswith(("_ZN7cpython", "cfunc."))


def entry_code(function: Any, symbol: str, module: Any) -> str:
    """The code of an entry, which loads the arguments from slots of eight bytes."""
    _, _, *types = (str(each.type) for each in function.arguments)
    if any("*" in kind for kind in types):
        raise NotImplementedError("this LLVM has typed pointers; compile ahead of time with numba 0.62 or later")
    loads = [
        f"%p{k} = getelementptr i64, ptr %slots, i64 {k}\n %a{k} = load {kind}, ptr %p{k}"
        for k, kind in enumerate(types)
    ]
    passed = ", ".join(["ptr %result", "ptr %error", *(f"{kind} %a{k}" for k, kind in enumerate(types))])
    declared = ", ".join(["ptr", "ptr", *types])
    return "\n".join(
        [
            f'target triple = "{module.triple}"',
            f'target datalayout = "{module.data_layout}"',
            f'declare i32 @"{function.name}"({declared})',
            f"define i32 @{symbol}(ptr %slots, ptr %result, ptr %error) {{",
            *loads,
            f'%status = call i32 @"{function.name}"({passed})',
            "ret i32 %status",
            "}",
        ]
    )


def hide_all_but(module: Any, symbol: str) -> None:
    """Keep functions with equal names in other object files apart: they may differ."""
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name != symbol:
            each.linkage = llvm.Linkage.internal


def remove_unused(module: Any, machine: Any) -> None:
    """Remove the wrapper for Python and what else nothing calls now."""
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)


def allow_read_only(arguments: str, function: Any) -> str:
    """Mark the arrays that the compiler knows not to be written: they may be read-only."""
    attributes = [b" ".join(each.attributes) for each in function.arguments][2:]
    tokens, slot = re.findall(r"a.....|s..|[()]", arguments), 0
    for k, token in enumerate(tokens):
        if token[0] == "a":
            if b"readonly" in attributes[slot + 4] or b"readnone" in attributes[slot + 4]:
                tokens[k] = token[:5] + "r"
            slot += 5 + 2 * int(token[3])
        elif token[0] == "s":
            slot += 1
    if slot != len(attributes):
        raise NotImplementedError(f"{function.name} has {len(attributes)} arguments, not {slot}")
    return "".join(tokens)


def result_token(kind: Any) -> str:
    """The type of a result in the tokens of `runtime.c`."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(kind, types.NoneType):
        return "v"
    if isinstance(kind, types.BaseTuple):
        return f"({''.join(map(result_token, kind.types))})"
    if isinstance(kind, types.Array):
        dtype = as_dtype(kind.dtype)
        return f"a{dtype.kind}{dtype.itemsize}{kind.ndim}{kind.layout}w"
    dtype = as_dtype(kind)
    return f"s{dtype.kind}{dtype.itemsize}"
