/**
 * What was sent for an answer that is kept: the very bytes, what became of everything that was said,
 * and what the provider counted beside what was estimated.
 */
import type { Usage } from '../conversation/event.ts'
import { turnIdOfCompletion, turnIdOfResponse } from '../conversation/ids.ts'
import type { JsonObject } from '../conversation/json.ts'
import { notFound } from '../errors.ts'
import { sentFor } from '../explain/previous-sent.ts'
import { tellExplanation } from '../explain/tell-explanation.ts'
import { askMemory } from '../history/ask-memory.ts'
import type { Caller } from '../keys.ts'
import type { StoredTurn } from '../store/store.ts'
import type { World } from '../world.ts'
import { explainedAs } from './explained-as.ts'

export async function explainAnswer(
  request: Pick<Request, 'url' | 'headers'>,
  id: string,
  caller: Caller,
  world: World,
): Promise<Response> {
  const turnId = turnIdOfResponse(id) ?? turnIdOfCompletion(id)
  if (turnId === null) throw notKept(id)
  // The first waits for what is about to be written.
  const sent = await askMemory(() => sentFor(turnId, caller, world))
  const turn = await askMemory(() => world.archive.loadTurn(caller, turnId))
  if (turn === null || turn.deletedAtMs !== null || sent === undefined || sent === null) {
    throw notKept(id)
  }
  const { parent, usage } = turn
  const previous = parent === null ? null : await askMemory(() => sentFor(parent, caller, world))
  const { about } = sent
  const told = tellExplanation(sent, { previous, fullReplay: about.fullReplay })
  const answered = {
    id,
    ...told,
    answer: answerOf(turn),
    usage: usageTold(usage, about.sent.estimated_tokens),
    cache: {
      ...(told['cache'] as JsonObject),
      reported_cached_tokens: usage?.cachedTokens ?? null,
    },
  }
  return explainedAs(request, answered, sent.body)
}

function answerOf({ state, createdAtMs, endedAtMs, origin, servedModel }: StoredTurn): JsonObject {
  return {
    state,
    created_at: Math.floor(createdAtMs / 1000),
    ended_at: endedAtMs === null ? null : Math.floor(endedAtMs / 1000),
    model: servedModel ?? origin.model,
  }
}

/** `null` where the provider has not counted. */
function usageTold(usage: Usage | null, estimated: number): JsonObject {
  return {
    estimated_input_tokens: estimated,
    input_tokens: usage?.inputTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
  }
}

function notKept(id: string) {
  const short = id.length > 80 ? `${id.slice(0, 80)}…` : id
  return notFound(`No request is kept for an answer with id '${short}'.`)
}
