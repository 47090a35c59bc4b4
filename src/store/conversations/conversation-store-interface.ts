/**
 * Interface of the store of conversations to which several clients can add. A conversation is a
 * chain of turns, and stores the id of the last one, its head. A turn locks the conversation before
 * it is added, so no other turn can be added at the same time. A caller finds only its own
 * conversations.
 */
import type { ItemPosition } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'
import type { NewTurn } from '../turns/turn-store-interface.ts'

export interface ConversationStore {
  /** Creates a conversation, and a turn with its first items if there are any. */
  readonly createConversation: (
    conversation: NewConversation,
    turn: NewTurn | null,
  ) => Promise<void>
  /** By default, policy overrides that cannot be decrypted count as none. */
  readonly findConversation: (
    owner: Caller,
    id: string,
    rule?: UndecryptableRule,
  ) => Promise<Conversation | null>
  /** Replaces the metadata. Resolves to `null` if the caller has no such conversation. */
  readonly replaceMetadata: (
    owner: Caller,
    id: string,
    metadata: JsonObject,
  ) => Promise<Conversation | null>
  /**
   * Replaces the policy overrides of the conversation; `null` removes them. Resolves to `null` if
   * the caller has no such conversation.
   */
  readonly setPolicyOverrides: (
    owner: Caller,
    id: string,
    context: JsonObject | null,
  ) => Promise<Conversation | null>
  /** Resets the conversation: later requests do not include the turns up to its present head. */
  readonly resetConversation: (owner: Caller, id: string) => Promise<Conversation | null>
  /**
   * Deletes a conversation and its turns, unless a turn has locked it (`busy`). If a turn outside
   * of the conversation continues a deleted turn, the rows of the deleted turn and its ancestors
   * stay as long as that turn exists.
   */
  readonly deleteConversation: (
    owner: Caller,
    id: string,
    nowMs: number,
  ) => Promise<'deleted' | 'busy' | 'unknown'>
  /**
   * Locks a conversation for `leaseMs` by the clock of the database. Resolves to `busy` if another turn
   * has locked it. Fails, without a lock, if the policy overrides cannot be decrypted.
   */
  readonly lockConversation: (lock: ConversationLockRequest) => Promise<ConversationLockResult>
  /** Extends the lock. Resolves to `false` if the turn does not have the lock any more. */
  readonly renewLock: (lock: ConversationLockRequest) => Promise<boolean>
  readonly unlockConversation: (lock: ConversationLockHolder) => Promise<void>
  /**
   * Adds a turn that consists of items from a client, and releases the turn's lock. Resolves to
   * `false`, and leaves the conversation unchanged, if the turn does not have the lock any more.
   */
  readonly appendItems: (turn: NewTurn) => Promise<boolean>
  /** Hides an item from later requests of its conversation. */
  readonly hideItem: (owner: Caller, position: ItemPosition) => Promise<void>
}

export interface NewConversation extends Caller {
  readonly id: string
  readonly metadata: JsonObject
  readonly createdAtMs: number
  /** The policy overrides of the conversation. */
  readonly context?: JsonObject | null
}

export interface Conversation extends Omit<NewConversation, 'context'>, ConversationState {}

/** The last turn of a conversation, the turn after which it was reset, and its policy overrides. */
export interface ConversationState {
  /** Id of the last turn; `null` if there is none. */
  readonly headTurnId: string | null
  /** The policy overrides as the client sent them, unchecked. */
  readonly context: JsonObject | null
  /** Id of the turn that was the last when the conversation was reset; `null` if it never was. */
  readonly resetAfterTurnId: string | null
}

export interface ConversationLockHolder extends Caller {
  readonly conversationId: string
  /** Id of the turn that locks the conversation and will be added to it. */
  readonly turnId: string
}

export interface ConversationLockRequest extends ConversationLockHolder {
  readonly leaseMs: number
}

/** `held` means that the turn has the lock now; `busy`, that another turn has it. */
export type ConversationLockResult =
  | (ConversationState & { readonly type: 'held' })
  | { readonly type: 'busy' | 'unknown' }
