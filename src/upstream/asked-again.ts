/**
 * What an upstream is asked again in the middle of its answer: the very prompt that it was asked with,
 * and behind it what it has said since then, with what it was answered.
 *
 * The tools stay the same to the last, for there are models that take their own reasoning back only
 * behind the same tools. One that has none but those of the house is then forbidden to call any.
 */
import type { Item } from '../conversation/item.ts'
import { rebuild } from '../rebuild/plan.ts'
import type { Transform } from '../rebuild/transform.ts'
import type { Prepared } from './prepare.ts'
import { refuseTooLarge } from './refuse-too-large.ts'

export interface Again {
  /** What is done to media, if there are any among what was answered. */
  readonly media: readonly Transform[]
  readonly isLast: boolean
}

/** Throws a GatewayError for more than can be sent. */
export function askedAgain(
  prepared: Prepared,
  more: readonly Item[],
  { media, isLast }: Again,
): Prepared {
  const { prompt, provider, account, house } = prepared
  const { items } = rebuild([...prompt.items, ...more], media)
  const isForbidden = isLast && prompt.params.tools.length === house.length
  const params = isForbidden ? { ...prompt.params, toolChoice: FORBIDDEN } : prompt.params
  const next = { ...prompt, items, params }
  return refuseTooLarge({ ...prepared, prompt: next, encoded: provider.encode(next, account) })
}

const FORBIDDEN = { type: 'none' } as const
