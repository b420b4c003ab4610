"""A step of hatchling: a wheel with compiled kernels (`make wheel`) is one for a platform."""

import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("src/pagekin/kernels")


class MachineCode(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Adds `pagekin.kernels.machine`. Without it the wheel is for any platform, and numba compiles on use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root, KERNELS)
        compiled = [*folder.glob("machine.*.so"), *folder.glob("machine.pyd")]
        if self.target_name != "wheel" or version == "editable" or not compiled:
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["force_include"] |= {str(path): f"pagekin/kernels/{path.name}" for path in compiled}
