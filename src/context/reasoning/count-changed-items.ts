/**
 * How much of a conversation in front of each of its places is touched: sent otherwise than it came, by
 * something that may have sent it as it came before, or the other way round. Between two answers that
 * nothing touched stands between, no step of a plan can be seen by the older one and not by the newer.
 */
import type { Item } from '../../core/item.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import type { PipelineResult } from '../list-and-run-transforms.ts'
import type { AppliedTransform, OriginalPositions } from '../transform-interface.ts'

/** `stages` are those that have to be asked; `places` tell what they have made of all in the end. */
export function countChangedItems(
  items: readonly Item[],
  { stages, places }: Pick<PipelineResult, 'stages' | 'places'>,
): Uint32Array {
  const touched = new Uint8Array(items.length)
  touchNoted(touched, stages)
  touchAround(touched, items, stages, places)
  withAnswers(touched, items)
  // What has come late may have been missed by all since its call.
  touched.fill(1, 0, lastMoved(stages))
  const before = new Uint32Array(items.length + 1)
  for (const [at, is] of touched.entries()) before[at + 1] = (before[at] ?? 0) + is
  return before
}

function touchNoted(touched: Uint8Array, stages: readonly AppliedTransform[]): void {
  for (const { transform, notes, places } of stages) {
    if (transform.prefixStability === 'none') continue
    for (const { at } of notes) {
      const place = at === undefined ? null : places[at]
      if (typeof place === 'number') touched[place] = 1
    }
  }
}

/**
 * What was added, where it is. It is elsewhere while somebody speaks in the middle of a turn, and what
 * may change at any time, whenever somebody speaks.
 */
function touchAround(
  touched: Uint8Array,
  items: readonly Item[],
  stages: readonly AppliedTransform[],
  sent: OriginalPositions,
): void {
  const isAnyTime = stages.some(({ transform }) => transform.prefixStability === undefined)
  if (!isAnyTime && !sent.includes(null)) return
  for (const [at, place] of sent.entries()) if (place === null) touched[sent[at - 1] ?? 0] = 1
  for (const [at, item] of items.entries()) {
    if (isNonAssistantMessage(item) && (isAnyTime || !isUserMessage(item))) touched[at] = 1
  }
}

/** With its whole rest, for what is left of an answer may begin behind what is touched. */
function withAnswers(touched: Uint8Array, items: readonly Item[]): void {
  for (let at = 0; at < items.length; at += 1) {
    const [item, next] = [items[at], items[at + 1]]
    if (touched[at] !== 1 || item === undefined || next === undefined) continue
    if (isModelItem(item) && isModelItem(next)) touched[at + 1] = 1
  }
}

function lastMoved(stages: readonly AppliedTransform[]): number {
  let last = 0
  for (const { notes, places } of stages) {
    for (const { did, at } of notes) {
      if (did === 'moved') last = Math.max(last, places[at ?? 0] ?? 0)
    }
  }
  return last
}
