/**
 * A provider as far as a policy is concerned: it has a cache, which knows as much of a request as it
 * has in common with the one before, and it may read reasoning only behind what it was made behind. It
 * compares what it is sent, character by character, and trusts nobody's hashes.
 */
import type { Item } from '../core/item.ts'
import { createPrefixNode, findNextPrefixNode, type PrefixNode } from './request-prefix-tree.ts'
import { createItemEncoder, encodeLeadingFields } from './encode-request-text.ts'

export interface SimulatedProvider {
  readonly read: (items: readonly Item[]) => RequestReading
  /** It has answered with these. */
  readonly make: (items: readonly Item[]) => void
}

export interface RequestReading {
  readonly chars: number
  /** So much of it is known from the request before. */
  readonly cached: number
  /** The request before is not the beginning of this one. */
  readonly breaks: boolean
  readonly reasoning: number
  /** Reasoning that stands behind something else than it was made behind. */
  readonly invalid: number
}

/** `binds` is whether it reads reasoning behind the prefix only that it was made behind. */
export function createSimulatedProvider(binds: boolean): SimulatedProvider {
  const textOf = createItemEncoder()
  const front = { piece: encodeLeadingFields(), place: createPrefixNode() }
  const madeAt = new Map<Item, PrefixNode>()
  let before: readonly Stretch[] = []
  return {
    read(items) {
      const stretches: Stretch[] = [front]
      let { place } = front
      let [reasoning, invalid] = [0, 0]
      for (const item of items) {
        if (item.type === 'reasoning') {
          reasoning += 1
          if (binds && madeAt.get(item) !== place) invalid += 1
        }
        const piece = textOf(item)
        if (piece === '') continue
        place = findNextPrefixNode(place, piece)
        stretches.push({ piece, place })
      }
      const shared = sharedStretches(before, stretches)
      const cached =
        charsOf(stretches.slice(0, shared)) +
        sharedChars(before[shared]?.piece ?? '', stretches[shared]?.piece ?? '')
      const breaks = shared < before.length
      before = stretches
      return { chars: charsOf(stretches), cached, breaks, reasoning, invalid }
    },
    make(items) {
      let place = before.at(-1)?.place ?? front.place
      for (const item of items) {
        madeAt.set(item, place)
        place = findNextPrefixNode(place, textOf(item))
      }
    },
  }
}

/** A piece of a request, and the place behind it. */
interface Stretch {
  readonly piece: string
  readonly place: PrefixNode
}

function sharedStretches(a: readonly Stretch[], b: readonly Stretch[]): number {
  const most = Math.min(a.length, b.length)
  for (let at = 0; at < most; at += 1) if (a[at]?.place !== b[at]?.place) return at
  return most
}

function sharedChars(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  for (let at = 0; at < most; at += 1) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at
  return most
}

function charsOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { piece }) => sum + piece.length, 0)
}
