/** Policies that each use one kind of transform, and one policy that uses nearly all. */
import type { PolicyOverrides } from '../../../src/core/context-policy.ts'

/** `tokenBudget`: the token limit, if the conversation must fit one. */
export interface MixedOverrides extends PolicyOverrides {
  readonly tokenBudget?: number | null
}

export const MIXED_OVERRIDES: readonly MixedOverrides[] = [
  { policy: 'retain', tokenBudget: 700 },
  { policy: 'replay', tokenBudget: 1500 },
  { policy: 'lean', tokenBudget: 700 },
  { policy: 'replay' },
  { policy: 'retain', outputs: { keepTurns: 1, step: 2 } },
  { policy: 'lean' },
  { policy: 'lean', outputs: { keepTurns: 2, step: 1 }, reasoning: { keep: 'next_reply' } },
  { policy: 'capped', outputs: { cap: 300 } },
  { window: { turns: 3 } },
  { window: { items: 6 } },
  { policy: 'lean', window: { tokens: 300 } },
  { policy: 'replay', media: { window: 4, images: 2, repeated: 'last' } },
  { policy: 'capped', media: { keepTurns: 0, step: 2 } },
  { policy: 'lean', media: { keepTurns: 1, step: 1 } },
  { notes: { entries: [{ text: 'Be kind.', depth: 2, role: 'developer' }] } },
  { speakers: { hidden: ['u2', 'u3'], merge: 'same_author', names: 'prefix' } },
  {
    policy: 'capped',
    outputs: { cap: 300, keepTurns: 1, step: 2 },
    window: { turns: 4, tokens: 900 },
    media: { window: 6 },
    notes: { entries: [{ text: 'Be kind.', depth: 1, role: 'user' }] },
    speakers: { hidden: ['u2', 'u3'], merge: 'same_author', names: 'prefix' },
    reasoning: { keep: 'next_reply' },
  },
]
