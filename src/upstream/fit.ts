/**
 * How large a request is, how much its model can take, and what is done when that is too little.
 * Nothing of it is known for sure: sizes are estimated, and a window only if the account's
 * `contextWindow` tells it, as a number or by model: `{"qwen*": 32768}`.
 */
import { isObject, type Json } from '../conversation/json.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import { matches } from './accounts.ts'
import { GatewayError } from '../errors.ts'
import { prepareFor, type Prepared } from './prepare.ts'
import { fitWindow } from '../rebuild/fit-window.ts'
import { pruneOrphans } from '../rebuild/prune-orphans.ts'
import type { World } from '../world.ts'

/** Of what is sent, whoever wrote it. */
export function tokensOf({ encoded, prompt }: Prepared): number {
  return estimateTokens(encoded.body instanceof Uint8Array ? prompt.source.body : encoded.body)
}

/** `null` when nobody knows. */
export function windowOf({ account, prompt }: Prepared): number | null {
  const { contextWindow } = account.quirks
  if (!isObject(contextWindow)) return numberOrNull(contextWindow)
  const { model } = prompt.params
  const pattern = Object.keys(contextWindow).find((name) => matches(name, model))
  return pattern === undefined ? null : numberOrNull(contextWindow[pattern])
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' && value > 0 ? value : null
}

/**
 * The request as it fits the window, if it may be cut; refused if it cannot fit. An estimate that
 * is a little over refuses nobody: then the upstream decides.
 */
export function fit(prepared: Prepared, world: World): Prepared {
  const window = windowOf(prepared)
  const { context } = prepared.inbound
  if (window === null || context === null) return prepared
  const room = window - roomForAnswer(prepared, window)
  const fits = context.truncation === 'auto' && tokensOf(prepared) > room
  const fitting = fits ? truncated(prepared, room, world) : prepared
  const tokens = tokensOf(fitting)
  if (tokens <= window * REFUSED_ABOVE) return fitting
  throw new GatewayError(
    'context_length_exceeded',
    `Your input exceeds the context window of this model: it is about ${tokens} tokens, and the model takes ${window}. ${WHAT_TO_DO[context.truncation]}`,
    { param: 'input' },
  )
}

const REFUSED_ABOVE = 1.2

const WHAT_TO_DO = {
  auto: 'The newest question alone is too long. Send less.',
  disabled:
    'Send less, let the oldest rounds be left out with `truncation: "auto"`, or have them summed up with `context_management`.',
}

function roomForAnswer({ prompt }: Prepared, window: number): number {
  const wanted = prompt.params.maxOutputTokens ?? 4096
  return Math.min(wanted, Math.floor(window / 4))
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
