/**
 * Restores an answer segment (consecutive model-made items in the client's list) from its stored
 * turns. The result has the recorded items in their recorded order, with the edits that the user
 * made to their text.
 *
 * If an item is dropped, the reasoning before it is dropped, too, because providers reject
 * reasoning without the item that followed it.
 */
import type { Item, Message, Reasoning } from '../../core/item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { hasSameContent, isUneditedReasoning } from '../compare-items.ts'
import { readToolCallKey, type RecordedOutput } from '../find-recorded-tool-outputs.ts'
import { onlyContinuesAnswer } from '../matching/classify-turn-input.ts'
import { isEmptyAssistantMessage, type Segment } from '../split-and-fingerprint-segments.ts'
import { alignEditedText } from '../text/align-edited-text.ts'
import { matchUneditedText } from '../text/match-unedited-text.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import { extractClientText } from './extract-client-text.ts'
import {
  isTextlessContinuation,
  findTurnBeforeUnrecordedText,
} from './find-turn-before-unrecorded-text.ts'
import { createCallPiece, createHostedPiece } from './restore-tool-item.ts'
import {
  type MatchedSegment,
  type RestoreState,
  addPiece,
  dropPendingReasoning,
  type RestoredPiece,
  TEXT_RESTORED_NOTE,
  createEditedPiece,
  OMITTED_CALL_PIECE,
  createRecalledPiece,
  createDroppedPiece,
} from './restore-state.ts'
import { createReasoningFinder, trackUnmatchedClientItems } from './track-unmatched-client-items.ts'
import { trackUnmatchedClientText } from './track-unmatched-client-text.ts'

export interface RestoredSegment {
  /**
   * The items to send instead of the client's items; `null` if the client's items are complete and
   * stay unchanged.
   */
  readonly pieces: readonly RestoredPiece[] | null
  /**
   * Recorded outputs of the segment's calls that the client omits. They are inserted after the
   * answer segment.
   */
  readonly missingOutputs: readonly RecordedOutput[]
}

export function restoreSegment(input: MatchedSegment): RestoredSegment {
  const { clientItems, turns } = input
  const nonEmptyItems = clientItems.filter((item) => !isEmptyAssistantMessage(item))
  const recorded = turns.flatMap((turn) => turn.output)
  const messages = recorded.filter(isMessage)
  const textlessTurns = indexTextlessTurns(input)
  const clientText = extractClientText(nonEmptyItems, textlessTurns)
  const turnBeforeUnrecordedText = findTurnBeforeUnrecordedText(turns, nonEmptyItems)
  const uneditedMessages = matchReceivedText(input.segment, turns, messages, clientText.messages)
  const alignment =
    uneditedMessages === null
      ? alignEditedText(messages, clientText.messages, turnBeforeUnrecordedText !== null)
      : null
  const clientReasoning = nonEmptyItems.filter(isReasoning)
  const state: RestoreState = {
    ...input,
    alignment,
    unmatchedText: trackUnmatchedClientText(
      alignment,
      messages.length,
      clientText.textlessTurnBefore,
    ),
    textlessTurns,
    reformattedMessages: alignment?.reformattedMessages ?? uneditedMessages ?? NO_MESSAGES,
    turnBeforeUnrecordedText,
    recordedMessageCount: messages.length,
    unmatchedItems: trackUnmatchedClientItems(nonEmptyItems.filter((item) => !isMessage(item))),
    findClientReasoning: createReasoningFinder(clientReasoning),
    pieces: [],
    pendingReasoning: [],
    isFollowerDropped: false,
    nextMessageIndex: 0,
    missingOutputs: new Map(),
  }
  replaceReasoning(state, clientReasoning)
  if (messages.length === 0 && turnBeforeUnrecordedText === null)
    addClientText(state, state.unmatchedText.takeRemaining())
  for (const [turnIndex, turn] of turns.entries()) replayTurn(state, turn, turnIndex)
  addClientText(state, state.unmatchedText.takeRemaining())
  for (const item of state.unmatchedItems.listRemaining()) state.pieces.push({ item, note: null })
  const items = state.pieces.flatMap(({ item }) => item ?? [])
  const isUnchanged =
    items.length === nonEmptyItems.length &&
    items.every((item, index) => hasSameContent(item, nonEmptyItems[index] ?? item))
  // If an upstream rejected earlier reasoning, recorded items replace the client's items even if
  // they are equal: only recorded items have an origin, by which rejected reasoning is recognized.
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

function indexTextlessTurns({ segment, turns }: MatchedSegment): ReadonlyMap<string, number> {
  const markerTurnIds = new Set(segment.markerTurnIds)
  return new Map(
    turns.flatMap((turn, turnIndex) =>
      markerTurnIds.has(turn.id) && isTextlessContinuation(turn)
        ? [[turn.id, turnIndex] as const]
        : [],
    ),
  )
}

/**
 * Drops the client's reasoning that was not recorded if the answer segment's turns have recorded
 * reasoning; keeps it if they have none. Clients merge and move reasoning items, so a mixture of
 * the client's and the recorded ones could be out of order.
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
    if (recorded.length === 0) pieces.push({ item: reasoning, note: null })
    else if (findRecorded(reasoning) === null)
      pieces.push({ item: null, note: { did: 'changed', why: 'reasoning-replaced' } })
  }
}

function isReasoning(item: Item): item is Reasoning {
  return item.type === 'reasoning'
}

function replayTurn(state: RestoreState, turn: RecordedTurn, turnIndex: number): void {
  if (state.textlessTurns.has(turn.id))
    addClientText(state, state.unmatchedText.takeBeforeTurn(turnIndex, state.nextMessageIndex))
  // The text that the turn continues comes before the turn's items.
  else if (onlyContinuesAnswer(turn) && turn.output.some(isMessage))
    addClientText(state, state.unmatchedText.takeBeforeMessage(state.nextMessageIndex))
  const outputs = state.missingOutputs.get(turn) ?? []
  state.missingOutputs.delete(turn)
  for (const { output } of outputs.toSorted((a, b) => a.inputIndex - b.inputIndex))
    state.pieces.push(createRecalledPiece(output, turn))
  const callCounts = new Map<string, number>()
  for (const item of turn.output) {
    if (item.type === 'reasoning') {
      if (state.isFollowerDropped) dropPendingReasoning(state)
      state.pendingReasoning.push(createReasoningPiece(state, item, turn))
    } else if (isMessage(item)) replayMessage(state, item, turnIndex)
    else if (isGatewayToolItem(item)) {
      // Clients do not see items of gateway tools and never send them back. The turn's output has
      // both the call and its result.
      addPiece(state, state.replaysTools ? createRecalledPiece(item, turn) : OMITTED_CALL_PIECE)
    } else {
      const callKey = readToolCallKey(item, 'call')
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
 * Creates the piece for recorded reasoning: the client's copy if it is complete or edited, else the
 * recorded item.
 */
function createReasoningPiece(
  { findClientReasoning }: RestoreState,
  recorded: Reasoning,
  turn: RecordedTurn,
): RestoredPiece {
  const copy = findClientReasoning(recorded)
  if (copy === null) return createRecalledPiece(recorded, turn)
  const isIncomplete = !hasSameContent(recorded, copy) && isUneditedReasoning(recorded, copy)
  return isIncomplete
    ? { item: recorded, note: { did: 'changed', why: 'reasoning-replaced' } }
    : { item: copy, note: null }
}

/**
 * Adds client text that matches no recorded message. The text comes before reasoning that still
 * waits for the item recorded after it, because nothing may come between the two.
 */
function addClientText({ pieces }: RestoreState, clientText: readonly Message[]): void {
  pieces.push(...clientText.map(createEditedPiece))
}

function replayMessage(state: RestoreState, item: Message, turnIndex: number): void {
  const { alignment } = state
  const messageIndex = state.nextMessageIndex
  state.nextMessageIndex += 1
  addClientText(state, state.unmatchedText.takeBeforeMessage(messageIndex))
  const replacement = alignment === null ? item : (alignment.replacements[messageIndex] ?? null)
  if (replacement === null) addPiece(state, createDroppedPiece('text-removed'))
  else if (replacement !== item) addPiece(state, createEditedPiece(replacement))
  else
    addPiece(state, {
      item,
      note: state.reformattedMessages.has(messageIndex) ? TEXT_RESTORED_NOTE : null,
    })
  const isLast = messageIndex === state.recordedMessageCount - 1
  if (!isLast || state.turnBeforeUnrecordedText === null)
    addClientText(state, state.unmatchedText.takeAfterMessage(messageIndex, turnIndex))
}

/**
 * Checks whether the user edited the answer segment's text; returns `null` if so. Otherwise,
 * returns the indexes of the recorded messages that the client has with other whitespace or damaged
 * markers. A text that differs from the recorded one is unedited if the client received it in this
 * form: the turn's fingerprint, which covers the received text, is then that of the segment.
 */
function matchReceivedText(
  { fingerprint, normalizedText }: Segment,
  turns: readonly RecordedTurn[],
  recorded: readonly Message[],
  clientMessages: readonly Message[],
): ReadonlySet<number> | null {
  const match = matchUneditedText(recorded, clientMessages)
  const [turn] = turns
  if (match !== null || turn === undefined || turns.length > 1) return match
  // The fingerprint of a turn that continues an answer also covers the continued text, which is not
  // among the recorded messages.
  const isReceivedText =
    fingerprint !== null && turn.fingerprint === fingerprint && !onlyContinuesAnswer(turn)
  // The fingerprint ignores whitespace, so it does not show whether the user changed some. If the
  // texts differ only in whitespace, e.g. the indentation, this is an edit.
  return !isReceivedText || normalizeTurnText(turns) === removeEmptyFences(normalizedText)
    ? null
    : new Set(recorded.keys())
}
