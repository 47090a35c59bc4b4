/**
 * Conversations that several clients can add to. A conversation is a chain of turns of which it knows
 * the newest, its head. Whoever wants to add to it holds it until then; nobody else can meanwhile.
 * It is its owner's: whatever is asked for somebody else finds no such conversation.
 */
import type { ItemPlace } from '../conversation/ids.ts'
import type { JsonObject } from '../conversation/json.ts'
import type { Owner } from './owner.ts'
import type { NewTurn } from './store.ts'

export interface ConversationStore {
  /** Creates a conversation, with a turn that holds its first items if there are any. */
  readonly createConversation: (
    conversation: NewConversation,
    turn: NewTurn | null,
  ) => Promise<void>
  readonly findConversation: (owner: Owner, id: string) => Promise<Conversation | null>
  /** `null` if there is no such conversation. */
  readonly relabelConversation: (
    owner: Owner,
    id: string,
    metadata: JsonObject,
  ) => Promise<Conversation | null>
  /**
   * Deletes a conversation and what only it used: turns of it that others stand on stay as long as
   * these, but are not found any more.
   */
  readonly deleteConversation: (
    owner: Owner,
    id: string,
    nowMs: number,
  ) => Promise<'deleted' | 'busy' | 'unknown'>
  /** Holds a conversation up to a time, unless somebody else does. */
  readonly holdConversation: (hold: ConversationHold) => Promise<Held>
  /** Holds it for longer. `false` if it is somebody else's by now. */
  readonly renewHold: (hold: ConversationHold) => Promise<boolean>
  readonly letGo: (hold: HeldConversation) => Promise<void>
  /**
   * Adds a turn of items to a conversation that the turn holds, and lets it go. `false` if it is
   * somebody else's by now; then nothing is added.
   */
  readonly appendItems: (turn: NewTurn) => Promise<boolean>
  /** Takes an item out of its conversation. */
  readonly hideItem: (owner: Owner, place: ItemPlace) => Promise<void>
}

export interface NewConversation extends Owner {
  readonly id: string
  readonly metadata: JsonObject
  readonly createdAtMs: number
}

export interface Conversation extends NewConversation {
  /** The newest of its turns. */
  readonly head: string | null
}

export interface HeldConversation extends Owner {
  readonly id: string
  /** The turn that is to be added. */
  readonly by: string
}

export interface ConversationHold extends HeldConversation {
  readonly nowMs: number
  readonly untilMs: number
}

export type Held =
  | { readonly type: 'held'; readonly head: string | null }
  | { readonly type: 'busy' | 'unknown' }
