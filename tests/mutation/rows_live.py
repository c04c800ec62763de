# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how stage 2 changes while guests run, for the tests on the host. Orders of several cores are pt_live_race_test.c's."""

from tests.mutation.mutation import Mutation

EDITOR, EDITOR_START = "hal/pt/pt_live.c", "hal/pt/pt_live_boot.c"


def edit(what: str, old: str, new: str = "", file: str = EDITOR) -> Mutation:
    return Mutation(what, file, old, new, "pt_live_test")


EDITS = (
    edit(
        "what is reserved begins inside a leaf",
        "(ia | size) & (pt_span(level) - 1) ? HAL_E_RANGE : check_range(pt, wide)",
        "check_range(pt, wide)",
        "hal/pt/pt_boot.c",
    ),
    edit("leaves are put where nothing is reserved", "if (!range) return HAL_E_DENIED;", "if (!range) return HAL_OK;"),
    edit("a range may end beyond what is reserved", "&& size <= range->size - (ia - range->ia))", ")"),
    edit(
        "leaves are put over leaves",
        "if (find(live, ia + done).kind != kind)",
        "if (kind == PT_LEAF && find(live, ia + done).kind != kind)",
    ),
    edit(
        "one leaf alone is looked at",
        "for (uint64_t done = 0; done < size; done += pt_span(range->level)) if",
        "for (uint64_t done = 0; !done; done = 1) if",
    ),
    edit("a block may be cut", "if (!size || pt_offset(ia | size, range->level))", "if (!size || pt_offset(ia | size, 0))"),
    edit("leaves are put before all have invalidated", "if (!range || !pt_live_is_clear(live))", "if (!range)"),
    edit("the first core's acknowledgement is enough", "slot < live->core_count; slot++) if", "slot < 1; slot++) if"),
    edit("taking begins no generation", "fill(live, ia, size, 0); begin_generation(live);", "fill(live, ia, size, 0);"),
    edit("every leaf has the first one's frame", "word + pt_word_of(&live->format, done)", "word"),
    edit("frames beyond the machine", "|| !pt_fits(oa.v, size, live->oa_bits)"),
    edit("frames that are misaligned", "|| pt_offset(oa.v, range->level)"),
    edit("any permissions are put", "if (!pt_may(format, permissions, memory)) return HAL_E_PERMISSION;"),
    edit("a block is put as a page", "range->level ? format->block : format->page", "format->page"),
    edit("a change is waited for for ever", "now - wait->since <= patience &&"),
    edit("changes without end are waited for", "&& now - wait->series <= PT_LIVE_SERIES * patience"),
    edit("a series never ends", "if (!wait->waits || now - wait->last > patience)", "if (!wait->waits)"),
    edit("every try begins a series", "if (!wait->waits || now - wait->last > patience) wait->series = now;", "wait->series = now;"),
    edit("patience outlives a life", "live->waits[slot].waits = false;", ";"),
    edit("a poisoned root leads nowhere", "word ? word | live->format.present : 0", "word"),
    edit("what is unused of the root leads somewhere", "word ? word | live->format.present : 0", "word | live->format.present"),
    edit("every access is tried again", "return is_leaf || is_within ||", "return true || is_within ||"),
    edit("a write to what is read-only is tried again", "&& !(permissions & ~leaf.permissions)"),
    edit("patience outlives a change", "if (!wait->waits || wait->change != change)", "if (!wait->waits)"),
    edit("a restart leaves leaves", "fill(live, range->ia, range->size, 0);"),
    edit("a restart invalidates nothing", "begin_generation(live); if (live->change & 1)", "if (live->change & 1)"),
    edit("a replacement outlives its life", "if (live->change & 1) next_change(live);"),
    edit("ranges may share places", "if (is_reserved(live, ia, size)) return HAL_E_OVERLAP;", "", EDITOR_START),
    edit("places stay as large as they are", "status = pt_reserve(pt, ia, size, level);", "status = HAL_OK;", EDITOR_START),
)
