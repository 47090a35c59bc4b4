/** A conversation with a long tool output, and a policy that shortens it once its turn is over. */
import { PRESETS, type ContextPolicy } from '../../src/core/context-policy.ts'
import { talk } from '../support/talk.ts'

export const LONG = talk`
  user: look
  call a
  output a ${'degrees '.repeat(400)}
  assistant: done
  user: thanks
`

export const LEAN: ContextPolicy = {
  ...PRESETS.replay,
  outputs: { ...PRESETS.replay.outputs, keepTurns: 0, step: 1, longerThan: 50, head: 10, tail: 10 },
  cuts: { minChars: 0 },
}
