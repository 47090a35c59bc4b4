/**
 * Working memory as people see it: of a conversation, of the thread that a response belongs to, or of
 * the user who asks. What is put here a model is told with the next question.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { createConversationNotFoundError } from '../../gateway/history/lock-conversation.ts'
import { excludeDeletedItems } from '../../gateway/history/exclude-deleted-items.ts'
import { copySafeFields, MAX_PATCH_DEPTH } from '../../memory/versioned-layers/json-merge-patch.ts'
import { saveNextVersion } from '../../memory/versioned-layers/save-next-version.ts'
import {
  readWorkingMemory,
  MAX_WORKING_MEMORY_CHARS,
  WORKING_MEMORY,
} from '../../memory/versioned-layers/working-memory-layer.ts'
import type { LayerKey } from '../../store/memory-layers/memory-layer-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { parseTurnId } from './delete-thread-or-user.ts'
import {
  shortenForError,
  requireIdPrefix,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

const path = '/memory/working'

export const WORKING_MEMORY_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'GET',
    path,
    async answer(asked, world) {
      const { place, of } = await placeIn(asked, world)
      const newest = (await queryStoreOrThrow(() => world.layers.loadVersions(place))).at(-1)
      return shown(of, readWorkingMemory(newest?.body ?? {}))
    },
  },
  {
    method: 'PUT',
    path,
    async answer(asked, world) {
      const { memory } = await asked.body()
      const wanted = memoryAs(memory)
      const { place, of, round } = await placeIn(asked, world)
      const work = { begunAtMs: world.nowMs(), thread: null }
      const writing = { ...work, place, round, parent: null, isTemporary: false }
      await queryStoreOrThrow(() => saveNextVersion(writing, () => ({ memory: wanted }), world))
      return shown(of, wanted)
    },
  },
  {
    method: 'DELETE',
    path,
    async answer(asked, world) {
      const { place, of } = await placeIn(asked, world)
      const deleted = await queryStoreOrThrow(() => world.layers.deleteVersions(place))
      return { object: 'memory.working.deleted', ...of, deleted }
    },
  },
]

/** Whose it is, as the answer says it. */
type Of =
  | { readonly conversation: string }
  | { readonly response: string }
  | { readonly user: string }

interface Found {
  readonly place: LayerKey
  readonly of: Of
  /** How many questions have been asked in it. */
  readonly round: number
}

function shown(of: Of, memory: JsonObject): JsonObject {
  return { object: 'memory.working', ...of, memory }
}

function memoryAs(memory: unknown): JsonObject {
  if (!isObject(memory)) throw invalid('memory', '`memory` must be a JSON object.')
  const clean = copySafeFields(memory)
  if (clean === null) {
    throw invalid('memory', `\`memory\` is nested more than ${MAX_PATCH_DEPTH} levels deep.`)
  }
  const { length } = JSON.stringify(clean)
  if (length <= MAX_WORKING_MEMORY_CHARS) return clean
  throw invalid(
    'memory',
    `\`memory\` has ${length} characters as JSON, and ${MAX_WORKING_MEMORY_CHARS} is the most.`,
  )
}

async function placeIn(
  { query, caller }: StoredObjectRequest,
  world: GatewayDependencies,
): Promise<Found> {
  const owner = { tenant: caller.tenant, user: caller.user }
  const conversation = query.get('conversation')
  const response = query.get('response')
  if (conversation !== null) return ofConversation(conversation, owner, world)
  if (response !== null) return ofResponse(response, owner, world)
  const { user } = owner
  if (user !== null) return { place: placeOf(owner, null), of: { user }, round: 0 }
  throw invalid(
    'conversation',
    'Say whose working memory is meant: `?conversation=conv_…` or `?response=resp_…`. Without either it is that of the user who asks, and the request names none.',
  )
}

async function ofConversation(
  named: string,
  owner: Caller,
  world: GatewayDependencies,
): Promise<Found> {
  const id = requireIdPrefix(named, 'conv', 'conversation')
  const found = await queryStoreOrThrow(() => world.conversations.findConversation(owner, id))
  if (found === null) throw createConversationNotFoundError(id, 'conversation')
  const { head } = found
  const chain = head === null ? null : await chainOf(head, owner, world)
  return {
    place: placeOf(owner, id),
    of: { conversation: id },
    round: roundsIn(chain ?? []),
  }
}

async function ofResponse(id: string, owner: Caller, world: GatewayDependencies): Promise<Found> {
  const chain = await chainOf(parseTurnId(id, 'response'), owner, world)
  const turn = chain?.at(-1)
  if (chain === null || turn === undefined) {
    throw createNotFoundError(`Nothing is remembered of '${shortenForError(id)}'.`, 'response')
  }
  const thread = turn.conversation ?? turn.thread
  return { place: placeOf(owner, thread), of: { response: id }, round: roundsIn(chain) }
}

function chainOf(turnId: string, owner: Caller, { store }: GatewayDependencies) {
  return queryStoreOrThrow(() => store.loadChain(owner, turnId))
}

function roundsIn(chain: readonly StoredTurn[]): number {
  return findRoundStarts(chain.flatMap(excludeDeletedItems)).length
}

function placeOf(owner: Caller, thread: string | null): LayerKey {
  return { owner, layer: WORKING_MEMORY, thread }
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', message, { param })
}
