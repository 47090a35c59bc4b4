/**
 * Interface of the store of conversations that several clients can add to. A conversation is a
 * chain of turns and stores the last one, its head. A turn locks the conversation before it adds to
 * it, and meanwhile no other turn can. A caller finds only its own conversations.
 */
import type { ItemPlace } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { NewTurn } from '../turns/turn-store-interface.ts'

export interface ConversationStore {
  /** Creates a conversation, and a turn with its first items if there are any. */
  readonly createConversation: (
    conversation: NewConversation,
    turn: NewTurn | null,
  ) => Promise<void>
  readonly findConversation: (owner: Caller, id: string) => Promise<Conversation | null>
  /** Replaces the metadata. Resolves to `null` if the caller has no such conversation. */
  readonly relabelConversation: (
    owner: Caller,
    id: string,
    metadata: JsonObject,
  ) => Promise<Conversation | null>
  /**
   * Replaces the policy overrides of the conversation; `null` removes them. Resolves to `null` if
   * the caller has no such conversation.
   */
  readonly setContext: (
    owner: Caller,
    id: string,
    context: JsonObject | null,
  ) => Promise<Conversation | null>
  /** Resets the conversation: from now on models do not see the turns up to its present head. */
  readonly resetConversation: (owner: Caller, id: string) => Promise<Conversation | null>
  /**
   * Deletes a conversation and the turns that only it uses. Turns with descendants elsewhere stay
   * stored until those are gone, but cannot be found any more.
   */
  readonly deleteConversation: (
    owner: Caller,
    id: string,
    nowMs: number,
  ) => Promise<'deleted' | 'busy' | 'unknown'>
  /** Locks a conversation until `untilMs`, unless another turn has locked it. */
  readonly holdConversation: (hold: ConversationHold) => Promise<ConversationHoldResult>
  /** Extends the lock. Resolves to `false` if another turn has it by now. */
  readonly renewHold: (hold: ConversationHold) => Promise<boolean>
  readonly letGo: (hold: ConversationHolder) => Promise<void>
  /**
   * Adds a turn of items to the conversation that the turn has locked, and releases the lock.
   * Resolves to `false`, and adds nothing, if another turn has the lock by now.
   */
  readonly appendItems: (turn: NewTurn) => Promise<boolean>
  /** Hides an item from later requests of its conversation. */
  readonly hideItem: (owner: Caller, place: ItemPlace) => Promise<void>
}

export interface NewConversation extends Caller {
  readonly id: string
  readonly metadata: JsonObject
  readonly createdAtMs: number
  readonly context?: JsonObject | null
}

export interface Conversation extends Omit<NewConversation, 'context'>, ConversationState {}

/** The position of a conversation in its chain of turns, and its policy overrides. */
export interface ConversationState {
  /** The last turn of the conversation. */
  readonly head: string | null
  /** The policy overrides as the client sent them, unchecked. */
  readonly context: JsonObject | null
  /** The turn that was the head when the conversation was reset. */
  readonly resetAfter: string | null
}

export interface ConversationHolder extends Caller {
  readonly id: string
  /** The turn that locks the conversation and will be added to it. */
  readonly by: string
}

export interface ConversationHold extends ConversationHolder {
  readonly nowMs: number
  readonly untilMs: number
}

export type ConversationHoldResult =
  | (ConversationState & { readonly type: 'held' })
  | { readonly type: 'busy' | 'unknown' }
