/**
 * Makes a request fit the model's window, if it may be cut: what is old is shortened and left out, in
 * steps, and the newest question never.
 * What cannot fit is refused, where the window is known for sure; elsewhere the upstream decides.
 */
import { itemTokens } from '../conversation/item-tokens.ts'
import type { OutputRules } from '../conversation/policy.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import { GatewayError } from '../errors.ts'
import { pruneOrphans } from '../rebuild/prune-orphans.ts'
import type { Transform } from '../rebuild/transform.ts'
import { windowHistory } from '../rebuild/window-history.ts'
import type { World } from '../world.ts'
import { certainWindowOf, roomIn, tokensOf, windowOf } from './budget.ts'
import { prepareFor, type Prepared } from './prepare.ts'

/** Whether `fit` has nothing to do: nothing is to be cut, and nobody refused. */
export function isFitting(prepared: Prepared): boolean {
  const overflow = overflowOf(prepared)
  const window = overflow === 'send' ? null : windowOf(prepared)
  if (window === null) return true
  const tokens = tokensOf(prepared)
  if (overflow === 'cut' && tokens > roomIn(window, prepared)) return false
  return certainWindowOf(prepared) === null || tokens <= window * REFUSED_ABOVE
}

/** An estimate that is a little over refuses nobody. */
export function fit(prepared: Prepared, world: World): Prepared {
  const overflow = overflowOf(prepared)
  const window = overflow === 'send' ? null : windowOf(prepared)
  if (window === null) return prepared
  const room = roomIn(window, prepared)
  const isCut = overflow === 'cut' && tokensOf(prepared) > room
  const fitting = isCut ? truncated(prepared, room, world) : prepared
  if (certainWindowOf(prepared) === null) return fitting
  const tokens = tokensOf(fitting)
  if (tokens <= window * REFUSED_ABOVE) return fitting
  throw new GatewayError(
    'context_length_exceeded',
    `Your input exceeds the context window of this model: it is about ${tokens} tokens, and the model takes ${window}. ${WHAT_TO_DO[overflow === 'cut' ? 'cut' : 'refuse']}`,
    { param: prepared.inbound.dialect === 'chat' ? 'messages' : 'input' },
  )
}

const REFUSED_ABOVE = 1.2

const WHAT_TO_DO = {
  cut: 'The newest question alone is too long. Send less.',
  refuse:
    'Send less, let the oldest turns be left out with `backstory: {"budget": {"overflow": "cut"}}` or `truncation: "auto"`, or have them summed up with `context_management`.',
}

/** The policy's word, or that of the request, or none, as in a dialect that has no words for it. */
function overflowOf({ policy, inbound }: Prepared): 'cut' | 'refuse' | 'send' {
  const { overflow } = policy.budget
  if (overflow !== 'auto') return overflow
  const { context } = inbound
  if (context === null) return 'send'
  return context.truncation === 'auto' ? 'cut' : 'refuse'
}

/**
 * As little as is enough: long outputs of tools in turns that are over are shortened, then the oldest
 * turns are left out, then all outputs are cut hard, those of the running turn too.
 */
function truncated(prepared: Prepared, room: number, world: World): Prepared {
  const shortened = preparedWith(prepared, { keepTurns: 0, step: 1 }, [], world)
  if (tokensOf(shortened) <= room) return shortened
  const windowed = preparedWith(
    prepared,
    { keepTurns: 0, step: 1 },
    windowOn(shortened, room),
    world,
  )
  if (tokensOf(windowed) <= room) return windowed
  const hard = preparedWith(prepared, HARD, [], world)
  return tokensOf(hard) <= room ? hard : preparedWith(prepared, HARD, windowOn(hard, room), world)
}

const HARD = { keepTurns: 0, step: 1, cap: 500, expand: false }

function preparedWith(
  { account, inbound, history, prompt }: Prepared,
  rules: Partial<OutputRules>,
  more: readonly Transform[],
  world: World,
): Prepared {
  const { model } = prompt.params
  const wishes = { ...inbound.wishes, outputs: { ...inbound.wishes?.outputs, ...rules } }
  const cut = prepareFor({ account, model }, { ...inbound, wishes }, history, world, more)
  // The request is what its client has sent, whatever was made of it.
  return { ...cut, inbound }
}

function windowOn(prepared: Prepared, room: number): readonly Transform[] {
  const { prompt } = prepared
  const { instructions, tools } = prompt.params
  // Items weigh more in some wires than in others, and instructions and tools cannot be cut.
  const fixed = estimateTokens([instructions, tools])
  const items = prompt.items.reduce((sum, item) => sum + itemTokens(item), 0)
  const weight = Math.max(1, tokensOf(prepared) - fixed) / Math.max(1, items)
  // As much as layers may ever tell, for what they tell may change from turn to turn.
  const beside = prepared.history.layers === undefined ? 0 : prepared.policy.layers.tokens
  const most = Math.max(1, Math.floor((room - fixed - beside) / weight))
  // A cut can part a call from its output.
  return [windowHistory({ by: 'room', most }), pruneOrphans()]
}
