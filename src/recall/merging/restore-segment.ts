/**
 * Restores a segment of a client's list from its recorded turns: the recorded item objects in their
 * recorded order, with the client's edits applied.
 *
 * If an item is dropped, its reasoning is dropped with it, because providers reject reasoning
 * without the item that followed it.
 */
import type { Item, Message } from '../../core/item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { isSameCall, hasSameContent } from '../compare-items.ts'
import { toolCallKey, type RecordedOutput } from '../find-recorded-tool-outputs.ts'
import { turnLacksNewInput } from '../matching/turn-lacks-new-input.ts'
import { isEmptyAssistantMessage } from '../split-and-fingerprint-segments.ts'
import { alignEditedText } from '../text/align-edited-text.ts'
import { extractClientText } from './extract-client-text.ts'
import { isSilentTurn, findTurnBeforeUnrecordedText } from './find-turn-before-unrecorded-text.ts'
import { isNonReplayableItem } from './is-non-replayable-item.ts'
import { isStaleCompaction } from './is-stale-compaction.ts'
import { createReasoningFinder } from './match-client-sent-reasoning.ts'
import { matchUneditedText } from './match-unedited-text.ts'
import {
  type MatchedSegment,
  type RestoreState,
  addPiece,
  dropPendingReasoning,
  addMissingOutput,
} from './restore-state.ts'
import {
  type RestoredPiece,
  TEXT_RESTORED_NOTE,
  createEditedPiece,
  NON_REPLAYABLE_PIECE,
  STALE_COMPACTION_PIECE,
  OMITTED_CALL_PIECE,
  createUnchangedPiece,
  createRecalledPiece,
  createDroppedPiece,
} from './restored-piece.ts'
import { trackUnmatchedClientItems } from './track-unmatched-client-items.ts'
import { trackUnmatchedText } from './track-unmatched-client-text.ts'

export interface RestoredSegment {
  /** `null` if the client's items are complete. */
  readonly pieces: readonly RestoredPiece[] | null
  /** Recorded outputs that the client omits; they are inserted after the segment. */
  readonly missingOutputs: readonly RecordedOutput[]
}

export function restoreSegment(input: MatchedSegment): RestoredSegment {
  const { clientItems, turns } = input
  const nonEmptyItems = clientItems.filter((item) => !isEmptyAssistantMessage(item))
  const recorded = turns.flatMap((turn) => turn.output)
  const messages = recorded.filter(isMessage)
  const silentTurns = indexSilentTurns(input)
  const clientText = extractClientText(nonEmptyItems, silentTurns)
  const turnBeforeUnrecordedText = findTurnBeforeUnrecordedText(turns, nonEmptyItems)
  const uneditedMessages = matchUneditedText(input.segment, turns, messages, clientText.messages)
  const alignment =
    uneditedMessages === null
      ? alignEditedText(messages, clientText.messages, turnBeforeUnrecordedText !== null)
      : null
  const clientReasoning = nonEmptyItems.filter(isReasoning)
  const state: RestoreState = {
    ...input,
    alignment,
    unmatchedText: trackUnmatchedText(alignment, messages.length, clientText.silentTurnBefore),
    silentTurns,
    restoredMessages: alignment?.restoredMessages ?? uneditedMessages ?? NO_MESSAGES,
    turnBeforeUnrecordedText,
    messageCount: messages.length,
    unmatchedItems: trackUnmatchedClientItems(nonEmptyItems.filter((item) => !isMessage(item))),
    findClientReasoning: createReasoningFinder(clientReasoning),
    pieces: [],
    pendingReasoning: [],
    isFollowerDropped: false,
    nextMessage: 0,
    missingOutputs: new Map(),
  }
  replaceReasoning(state, clientReasoning)
  if (messages.length === 0 && turnBeforeUnrecordedText === null)
    addClientText(state, state.unmatchedText.takeRemaining())
  for (const [turnIndex, turn] of turns.entries()) replayTurn(state, turn, turnIndex)
  addClientText(state, state.unmatchedText.takeRemaining())
  for (const item of state.unmatchedItems.listRemaining())
    state.pieces.push(createUnchangedPiece(item))
  const items = state.pieces.flatMap(({ item }) => item ?? [])
  const isUnchanged =
    items.length === nonEmptyItems.length &&
    items.every((item, index) => hasSameContent(item, nonEmptyItems[index] ?? item))
  // If an upstream rejected earlier reasoning, the pieces are needed to know where the rejection
  // applies.
  const hasRejectedReasoning = turns.some(({ reasoningRefusedBy }) => reasoningRefusedBy !== null)
  return {
    pieces: isUnchanged && !hasRejectedReasoning ? null : state.pieces,
    missingOutputs: [...state.missingOutputs.values()].flat(),
  }
}

const NO_MESSAGES: ReadonlySet<number> = new Set()

function isMessage(item: Item): item is Message {
  return item.type === 'message'
}

function indexSilentTurns({ segment, turns }: MatchedSegment): ReadonlyMap<string, number> {
  const markerTurnIds = new Set(segment.markerTurnIds)
  return new Map(
    turns.flatMap((turn, turnIndex) =>
      markerTurnIds.has(turn.id) && isSilentTurn(turn) ? [[turn.id, turnIndex] as const] : [],
    ),
  )
}

/**
 * Uses the recorded reasoning for the complete segment, or the client's if none is recorded. Clients
 * merge and move reasoning items, so a mixture could be out of order.
 */
function replaceReasoning(
  { turns, unmatchedItems, pieces }: RestoreState,
  clientReasoning: readonly Item[],
): void {
  if (clientReasoning.length === 0) return
  const recorded = turns.flatMap(({ output }) => output.filter(isReasoning))
  const findRecorded = createReasoningFinder(recorded)
  for (const reasoning of clientReasoning) {
    unmatchedItems.remove(reasoning)
    if (recorded.length === 0) pieces.push(createUnchangedPiece(reasoning))
    else if (findRecorded(reasoning) === null) {
      pieces.push({ item: null, note: { did: 'changed', why: 'reasoning-replaced' } })
    }
  }
}

function isReasoning(item: Item): boolean {
  return item.type === 'reasoning'
}

function replayTurn(state: RestoreState, turn: RecordedTurn, turnIndex: number): void {
  if (state.silentTurns.has(turn.id))
    addClientText(state, state.unmatchedText.takeBeforeTurn(turnIndex, state.nextMessage))
  // The continued text comes before the turn's items.
  else if (turnLacksNewInput(turn) && turn.output.some(isMessage)) {
    addClientText(state, state.unmatchedText.takeBeforeMessage(state.nextMessage))
  }
  const outputs = state.missingOutputs.get(turn) ?? []
  state.missingOutputs.delete(turn)
  for (const { output } of outputs.toSorted((a, b) => a.inputIndex - b.inputIndex)) {
    state.pieces.push(createRecalledPiece(output, turn))
  }
  const callCounts = new Map<string, number>()
  for (const item of turn.output) {
    if (item.type === 'reasoning') {
      if (state.isFollowerDropped) dropPendingReasoning(state)
      state.pendingReasoning.push(createReasoningPiece(state, item, turn))
    } else if (isMessage(item)) replayMessage(state, item, turnIndex)
    else if (isGatewayToolItem(item)) {
      // The client never sees gateway tools. The turn's output contains the call and its result.
      addPiece(state, state.replaysTools ? createRecalledPiece(item, turn) : OMITTED_CALL_PIECE)
    } else {
      const callKey = toolCallKey(item, 'call')
      addPiece(
        state,
        callKey === null
          ? createHostedPiece(state, item, turn)
          : createCallPiece(state, item, callKey, turn, callCounts),
      )
    }
  }
  if (state.isFollowerDropped) dropPendingReasoning(state)
  state.pieces.push(...state.pendingReasoning)
  state.pendingReasoning = []
  if (turn === state.turnBeforeUnrecordedText)
    addClientText(state, state.unmatchedText.takeRemaining())
}

/**
 * Adds client text that matches no recorded message. It comes before reasoning that
 * still waits for the item that followed it, because nothing may come between the two.
 */
function addClientText({ pieces }: RestoreState, clientText: readonly Message[]): void {
  pieces.push(...clientText.map(createEditedPiece))
}

function replayMessage(state: RestoreState, item: Message, turnIndex: number): void {
  const { alignment } = state
  const messageIndex = state.nextMessage
  state.nextMessage += 1
  addClientText(state, state.unmatchedText.takeBeforeMessage(messageIndex))
  const replacement = alignment === null ? item : (alignment.replacements[messageIndex] ?? null)
  if (replacement === null) addPiece(state, createDroppedPiece('text-removed'))
  else if (replacement !== item) addPiece(state, createEditedPiece(replacement))
  else
    addPiece(state, {
      item,
      note: state.restoredMessages.has(messageIndex) ? TEXT_RESTORED_NOTE : null,
    })
  const isLast = messageIndex === state.messageCount - 1
  if (!isLast || state.turnBeforeUnrecordedText === null)
    addClientText(state, state.unmatchedText.takeAfterMessage(messageIndex, turnIndex))
}

function createReasoningPiece(
  { findClientReasoning }: RestoreState,
  item: Item,
  turn: RecordedTurn,
): RestoredPiece {
  const clientReasoning = findClientReasoning(item)
  return clientReasoning === null
    ? createRecalledPiece(item, turn)
    : { item: clientReasoning, note: null }
}

function createCallPiece(
  state: RestoreState,
  item: Item,
  callKey: string,
  turn: RecordedTurn,
  callCounts: Map<string, number>,
): RestoredPiece {
  const nth = callCounts.get(callKey) ?? 0
  callCounts.set(callKey, nth + 1)
  const output = state.replaysTools ? state.findOutput(turn, callKey, nth) : null
  const clientItem = state.unmatchedItems.takeCall(callKey)
  if (clientItem !== null) {
    if (output !== null && !state.answeredCalls.has(clientItem)) addMissingOutput(state, output)
    if (isSameCall(item, clientItem)) return { item, note: null }
    return { item: clientItem, note: { did: 'changed', why: 'call-edited' } }
  }
  if (isNonReplayableItem(item)) return NON_REPLAYABLE_PIECE
  if (state.replaysTools && state.unpairedOutputKeys.has(callKey))
    return createRecalledPiece(item, turn)
  if (output === null) return OMITTED_CALL_PIECE
  addMissingOutput(state, output)
  return createRecalledPiece(item, turn)
}

function createHostedPiece(state: RestoreState, item: Item, turn: RecordedTurn): RestoredPiece {
  const clientItem = state.unmatchedItems.takeHosted(item)
  if (clientItem !== null)
    return isNonReplayableItem(item) ? createUnchangedPiece(clientItem) : { item, note: null }
  if (isNonReplayableItem(item)) return NON_REPLAYABLE_PIECE
  if (isStaleCompaction(item, state)) return STALE_COMPACTION_PIECE
  return !state.replaysTools && isHostedCall(item)
    ? OMITTED_CALL_PIECE
    : createRecalledPiece(item, turn)
}

/** True for a call of a hosted tool, e.g. `web_search_call`, which contains its result. */
function isHostedCall(item: Item): boolean {
  if (item.type !== 'opaque' || readToolCallIdentity(item) !== null) return false
  const { type } = item.raw
  return typeof type === 'string' && type.endsWith('_call')
}
