/**
 * What a request came to, in one line for a header of its answer. Only for who asks for it; and it
 * never costs the answer, nor makes it wait for long.
 */
import { messageOf } from '../core/errors/gateway-error.ts'
import { inTime, LATE } from '../core/wait-with-timeout.ts'
import type { Caller } from '../core/client/caller.ts'
import type { Prepared } from '../gateway/prompt/prepare-request.ts'
import { upstreamRequest } from '../gateway/send/build-http-request.ts'
import type { World } from '../gateway/dependencies-interface.ts'
import { explanationOf } from './build-explanation.ts'
import { textOf } from './store-sent-requests.ts'
import { previousSent } from './load-previous-request.ts'
import { cacheTold } from './render-explanation-json.ts'

/** Who sends it as `true` is told in `x-backstory-context`. */
export const CONTEXT_HEADER = 'x-backstory-explain'

export async function contextLineFor(
  prepared: Prepared,
  owner: Caller,
  world: World,
): Promise<string | null> {
  if (world.tellsContext !== true) return null
  try {
    const request = upstreamRequest(prepared)
    const { about, fates } = explanationOf(prepared, request, world.settings)
    const found = await inTime(previousSent(prepared, owner, world), PATIENCE_MS)
    const previous = found === LATE ? undefined : found
    const cache = cacheTold({ about, fates, body: textOf(request) }, previous)
    const count = (fate: string): number => fates.filter((one) => one.fate === fate).length
    const said = [
      `policy=${about.policy.name}`,
      `items=${fates.length}`,
      `sent=${fates.length - count('dropped')}`,
      `changed=${count('changed') + count('moved')}`,
      `added=${count('added')}`,
      `dropped=${count('dropped')}`,
      `tokens=${about.sent.estimated_tokens}`,
      `cached=${previous === undefined ? 'unknown' : cache.predicted_cached_tokens}`,
    ]
    return said.join('; ')
  } catch (error) {
    world.log('warn', 'context-not-told', { why: messageOf(error) })
    return null
  }
}

const PATIENCE_MS = 300
