# SPDX-License-Identifier: Apache-2.0
"""The sandbox kernel's admission.c as a shared object, for sets of bhtool.config.admission."""

import ctypes

from bhtool.config.admission import MainVcpu, Reservations


class CVcpu(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("percent", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("budget", "period", "blocking")),
    )


class CTopHalf(ctypes.Structure):
    _fields_ = (("distance", ctypes.c_uint64), ("cost", ctypes.c_uint64))


class CSet(ctypes.Structure):
    _fields_ = (
        ("vcpus", ctypes.c_void_p),
        ("top_halves", ctypes.c_void_p),
        ("vcpu_count", ctypes.c_uint),
        ("top_half_count", ctypes.c_uint),
        ("switch_cost", ctypes.c_uint64),
        ("edf", ctypes.c_bool),
    )


class CReport(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_bool) for name in ("by_bound", "by_response", "exact")),
        *((name, ctypes.c_uint64) for name in ("asked_ppm", "allowed_ppm")),
        ("which", ctypes.c_uint),
        *((name, ctypes.c_uint64) for name in ("response", "deadline")),
    )


class Kernel:
    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.admission_bound.restype = library.admission_fit.restype = ctypes.c_uint64

    @staticmethod
    def _set(core: Reservations, edf: bool) -> tuple[CSet, ctypes.Array[CVcpu], ctypes.Array[CTopHalf]]:
        """All three, as the first only points at the others."""
        vcpus = (CVcpu * len(core.vcpus))(
            *(
                CVcpu(0, 0, one.budget, one.period, one.blocking)
                if isinstance(one, MainVcpu)
                else CVcpu(1, one.percent, 0, one.period, one.blocking)
                for one in core.vcpus
            )
        )
        tops = (CTopHalf * len(core.top_halves))(*(CTopHalf(one.distance, one.cost) for one in core.top_halves))
        pointers = ctypes.addressof(vcpus), ctypes.addressof(tops)
        return CSet(*pointers, len(core.vcpus), len(core.top_halves), core.switch_cost, edf), vcpus, tops

    def test(self, core: Reservations, edf: bool = False) -> tuple[int, CReport]:
        report, (one, *_kept) = CReport(), self._set(core, edf)
        return self.library.admission_test(ctypes.byref(one), ctypes.byref(report)), report

    def response(self, core: Reservations, rank: int) -> tuple[int, int]:
        span, (one, *_kept) = ctypes.c_uint64(), self._set(core, False)
        return self.library.admission_response(ctypes.byref(one), rank, ctypes.byref(span)), span.value

    def fit(self, core: Reservations, rank: int, edf: bool = False) -> int:
        one, vcpus, _kept = self._set(core, edf)
        return int(self.library.admission_fit(ctypes.byref(one), ctypes.byref(vcpus[rank])))

    def bound(self, n: int) -> int:
        return int(self.library.admission_bound(n))
