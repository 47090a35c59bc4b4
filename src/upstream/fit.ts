/**
 * Makes a request fit the model's window, if it may be cut: the oldest turns are left out, in steps.
 * What cannot fit is refused, where the window is known for sure; elsewhere the upstream decides.
 */
import { estimateTokens } from '../conversation/tokens.ts'
import { GatewayError } from '../errors.ts'
import { fitWindow } from '../rebuild/fit-window.ts'
import { pruneOrphans } from '../rebuild/prune-orphans.ts'
import type { World } from '../world.ts'
import { certainWindowOf, roomIn, tokensOf, windowOf } from './budget.ts'
import { prepareFor, type Prepared } from './prepare.ts'

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

function truncated(prepared: Prepared, room: number, world: World): Prepared {
  const { account, inbound, history, prompt } = prepared
  const { instructions, tools, model } = prompt.params
  // Items weigh more in some wires than in others, and instructions and tools cannot be cut.
  const fixed = estimateTokens([instructions, tools])
  const items = prompt.items.reduce((sum, item) => sum + estimateTokens(item), 0)
  const weight = Math.max(1, tokensOf(prepared) - fixed) / Math.max(1, items)
  const maxTokens = Math.max(1, Math.floor((room - fixed) / weight))
  // A cut can part a call from its output.
  const more = [fitWindow({ maxTokens }), pruneOrphans()]
  return prepareFor({ account, model }, inbound, history, world, more)
}
