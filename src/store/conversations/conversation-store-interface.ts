/**
 * Conversations that several clients can add to. A conversation is a chain of turns of which it knows
 * the newest, its head. Whoever wants to add to it holds it until then; nobody else can meanwhile.
 * It is its owner's: whatever is asked for somebody else finds no such conversation.
 */
import type { ItemPlace } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { NewTurn } from '../turns/turn-store-interface.ts'

export interface ConversationStore {
  /** Creates a conversation, with a turn that holds its first items if there are any. */
  readonly createConversation: (
    conversation: NewConversation,
    turn: NewTurn | null,
  ) => Promise<void>
  readonly findConversation: (owner: Caller, id: string) => Promise<Conversation | null>
  /** `null` if there is no such conversation. */
  readonly relabelConversation: (
    owner: Caller,
    id: string,
    metadata: JsonObject,
  ) => Promise<Conversation | null>
  /** What holds for its context from now on; `null` for nothing. Resolves to `null` if it is not there. */
  readonly setContext: (
    owner: Caller,
    id: string,
    context: JsonObject | null,
  ) => Promise<Conversation | null>
  /** What it has come to is behind it: from now on nothing of that is told to a model. */
  readonly resetConversation: (owner: Caller, id: string) => Promise<Conversation | null>
  /**
   * Deletes a conversation and what only it used: turns of it that others stand on stay as long as
   * these, but are not found any more.
   */
  readonly deleteConversation: (
    owner: Caller,
    id: string,
    nowMs: number,
  ) => Promise<'deleted' | 'busy' | 'unknown'>
  /** Holds a conversation up to a time, unless somebody else does. */
  readonly holdConversation: (hold: ConversationHold) => Promise<ConversationHoldResult>
  /** Holds it for longer. `false` if it is somebody else's by now. */
  readonly renewHold: (hold: ConversationHold) => Promise<boolean>
  readonly letGo: (hold: ConversationHolder) => Promise<void>
  /**
   * Adds a turn of items to a conversation that the turn holds, and lets it go. `false` if it is
   * somebody else's by now; then nothing is added.
   */
  readonly appendItems: (turn: NewTurn) => Promise<boolean>
  /** Takes an item out of its conversation. */
  readonly hideItem: (owner: Caller, place: ItemPlace) => Promise<void>
}

export interface NewConversation extends Caller {
  readonly id: string
  readonly metadata: JsonObject
  readonly createdAtMs: number
  readonly context?: JsonObject | null
}

export interface Conversation extends Omit<NewConversation, 'context'>, ConversationState {}

/** Where a conversation stands, and what holds for its context. */
export interface ConversationState {
  /** The newest of its turns. */
  readonly head: string | null
  /** As it was written, and not looked at. */
  readonly context: JsonObject | null
  /** The turn at which it was reset. */
  readonly resetAfter: string | null
}

export interface ConversationHolder extends Caller {
  readonly id: string
  /** The turn that is to be added. */
  readonly by: string
}

export interface ConversationHold extends ConversationHolder {
  readonly nowMs: number
  readonly untilMs: number
}

export type ConversationHoldResult =
  | (ConversationState & { readonly type: 'held' })
  | { readonly type: 'busy' | 'unknown' }
