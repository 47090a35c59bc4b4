/** Plays random chats, several at a time, and shortens one that fails. */
import { performAction, type Action } from './actions.ts'
import { DAMAGES, type DamageName } from './damage-markers.ts'
import type { Profile } from './headers.ts'
import type { ChatSession } from './chat-session.ts'
import type { Connection } from './to-body.ts'
import type { TestSetup } from './test-setup.ts'

export interface ChatVariant {
  readonly profile: Profile
  /** The delay of the models. */
  readonly thinkingMs: number
}

export interface RandomChat extends ChatVariant {
  readonly model: string
  readonly connection: Connection
  readonly damage: DamageName | null
  readonly actions: readonly Action[]
}

export interface ChatFailure {
  readonly chat: RandomChat
  readonly problems: readonly unknown[]
}

export type SetupFor = (place: ChatVariant) => TestSetup

const MAX_CONCURRENT = 20

/** Returns the first failure of each chat. */
export async function playChats(
  chats: readonly RandomChat[],
  setupOf: SetupFor,
): Promise<readonly ChatFailure[]> {
  const failures: ChatFailure[] = []
  const waiting = [...chats]
  const player = async (): Promise<void> => {
    for (let chat = waiting.shift(); chat !== undefined; chat = waiting.shift()) {
      const failure = await playChat(chat, setupOf)
      if (failure !== null) failures.push(failure)
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, player))
  return failures
}

/** Removes one action after the other, as long as the chat still fails. */
export async function shortenFailure(
  failure: ChatFailure,
  setupOf: SetupFor,
): Promise<ChatFailure> {
  let shortest = failure
  for (let at = failure.chat.actions.length - 1; at >= 0; at -= 1) {
    const { chat } = shortest
    const next = await playChat({ ...chat, actions: chat.actions.toSpliced(at, 1) }, setupOf)
    if (next !== null) shortest = next
  }
  return shortest
}

async function playChat(chat: RandomChat, setupOf: SetupFor): Promise<ChatFailure | null> {
  const { profile, thinkingMs, model, connection, damage, actions } = chat
  const inlet = damage === null ? undefined : DAMAGES[damage]
  const hasMarkers = profile !== 'bare' && inlet === undefined
  // Over a Responses connection, version 0.10 confuses the items of an answer that was stopped before its
  // first text and continued, with any upstream.
  const version = '0.12'
  const account = { connection, version, ...(inlet === undefined ? {} : { inlet }) } as const
  let session: ChatSession = setupOf({ profile, thinkingMs }).session(account, {
    model,
    hasMarkers,
  })
  for (const [at, action] of actions.entries()) {
    session = await performAction(session, action)
    const problems = [...session.gaps, ...session.faults]
    if (problems.length > 0)
      return { chat: { ...chat, actions: actions.slice(0, at + 1) }, problems }
  }
  return null
}
