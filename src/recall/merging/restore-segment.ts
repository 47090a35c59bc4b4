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
import { matchUneditedText, removeDamagedMarkers } from '../text/match-unedited-text.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import { extractClientText } from './extract-client-text.ts'
import { areMissingCallsDeleted, findDeletedThoughts } from './find-deleted-items.ts'
import { matchTurnTexts, type TextMatch } from './match-turn-texts.ts'
import { createCallPiece, createHostedPiece } from './restore-tool-item.ts'
import {
  type MatchedSegment,
  type RestoreState,
  addClientText,
  addPiece,
  dropPendingReasoning,
  type RestoredPiece,
  TEXT_RESTORED_NOTE,
  createEditedPiece,
  DELETED_PIECE,
  OMITTED_CALL_PIECE,
  LED_TO_EDITED_TEXT_PIECE,
  createRecalledPiece,
  createDroppedPiece,
} from './restore-state.ts'
import { createReasoningFinder, trackUnmatchedClientItems } from './track-unmatched-client-items.ts'

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
  const uneditedMessages = matchReceivedText(input.segment, turns, messages, clientText.messages)
  const textMatch: TextMatch =
    uneditedMessages === null
      ? matchTurnTexts(turns, clientText.messages.map(removeDamagedMarkers))
      : {
          replacements: messages,
          reformattedMessages: uneditedMessages,
          editedTurns: new Set<number>(),
          unmatchedText: [],
        }
  const clientReasoning = nonEmptyItems.filter(isReasoning)
  const state: RestoreState = {
    ...input,
    textMatch,
    clientText,
    unmatchedText: [...textMatch.unmatchedText],
    itemIndexes: new Map(nonEmptyItems.map((item, index) => [item, index])),
    textlessTurns,
    unmatchedItems: trackUnmatchedClientItems(nonEmptyItems.filter((item) => !isMessage(item))),
    findClientReasoning: createReasoningFinder(clientReasoning),
    areMissingCallsDeleted: areMissingCallsDeleted(input.deletionRule, clientItems),
    deletedThoughts: findDeletedThoughts(input.deletionRule, turns, input.segment, clientItems),
    pieces: [],
    pendingReasoning: [],
    isFollowerDropped: false,
    nextMessageIndex: 0,
    missingOutputs: new Map(),
  }
  replaceReasoning(state, clientReasoning)
  for (const [turnIndex, turn] of turns.entries()) replayTurn(state, turn, turnIndex)
  addClientText(state, () => true)
  for (const item of state.unmatchedItems.listRemaining()) state.pieces.push({ item, note: null })
  const items = state.pieces.flatMap(({ item }) => item ?? [])
  const isUnchanged =
    items.length === nonEmptyItems.length &&
    items.every((item, index) => hasSameContent(item, nonEmptyItems[index] ?? item))
  // Recorded items replace the client's items even if they are equal, if their origin is needed: it shows where earlier
  // reasoning was rejected, and whether the prompt before an answer has changed since.
  const needsOrigin =
    turns.some(({ reasoningRefusedBy }) => reasoningRefusedBy !== null) ||
    recorded.some(({ origin }) => origin !== undefined && origin.prefixHash !== null)
  const isReasoningLost = state.pieces.includes(LED_TO_EDITED_TEXT_PIECE)
  return {
    pieces: isUnchanged && !needsOrigin && !isReasoningLost ? null : state.pieces,
    missingOutputs: [...state.missingOutputs.values()].flat(),
  }
}

function isMessage(item: Item): item is Message {
  return item.type === 'message'
}

/** True if the last recorded item is one that the client does not see. */
function endsInvisibly(output: readonly Item[]): boolean {
  const item = output.at(-1)
  if (item === undefined) return false
  const isHosted = item.type === 'opaque' && readToolCallKey(item, 'call') === null
  return item.type === 'reasoning' || isGatewayToolItem(item) || isHosted
}

/**
 * Returns the ids of the turns that continue an answer, have no text, and end with an item that the
 * client does not see, with their indexes. Only their markers show where in the client's text their
 * items belong.
 */
function indexTextlessTurns({ segment, turns }: MatchedSegment): ReadonlyMap<string, number> {
  const markerTurnIds = new Set(segment.markerTurnIds)
  return new Map(
    turns.flatMap((turn, turnIndex) =>
      markerTurnIds.has(turn.id) &&
      onlyContinuesAnswer(turn) &&
      endsInvisibly(turn.output) &&
      !turn.output.some(isMessage)
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
  const isTextless = state.textlessTurns.has(turn.id)
  // The text that the turn continues comes before the turn's items.
  addClientText(
    state,
    ({ beforeTurn, clientIndex }) =>
      beforeTurn <= turnIndex ||
      (isTextless && (state.clientText.textlessTurnBefore[clientIndex] ?? -1) < turnIndex),
  )
  const outputs = state.missingOutputs.get(turn) ?? []
  state.missingOutputs.delete(turn)
  for (const { output } of outputs.toSorted((a, b) => a.inputIndex - b.inputIndex))
    state.pieces.push(createRecalledPiece(output, turn))
  const isEdited = state.textMatch.editedTurns.has(turnIndex)
  const callCounts = new Map<string, number>()
  for (const item of turn.output) {
    if (item.type === 'reasoning') {
      if (state.isFollowerDropped) dropPendingReasoning(state)
      const piece = state.deletedThoughts.has(item)
        ? DELETED_PIECE
        : createReasoningPiece(state, item, turn, isEdited)
      if (piece.item === null) state.pieces.push(piece)
      else state.pendingReasoning.push(piece)
    } else if (isMessage(item)) replayMessage(state, item, isEdited)
    else if (isGatewayToolItem(item)) {
      // Clients do not see items of gateway tools and never send them back. The turn's output has
      // both the call and its result.
      addPiece(state, state.replaysTools ? createRecalledPiece(item, turn) : OMITTED_CALL_PIECE)
    } else {
      const callKey = readToolCallKey(item, 'call')
      addPiece(
        state,
        callKey === null
          ? createHostedPiece(state, item, turn, isEdited)
          : createCallPiece(state, item, callKey, turn, callCounts),
      )
    }
  }
  if (state.isFollowerDropped) dropPendingReasoning(state)
  state.pieces.push(...state.pendingReasoning)
  state.pendingReasoning = []
}

/**
 * Creates the piece for recorded reasoning: the client's copy if it is complete or edited, else the
 * recorded item. If the turn's text was edited, only the client's copy is sent.
 */
function createReasoningPiece(
  { findClientReasoning }: RestoreState,
  recorded: Reasoning,
  turn: RecordedTurn,
  isEdited: boolean,
): RestoredPiece {
  const copy = findClientReasoning(recorded)
  if (copy === null)
    return isEdited ? LED_TO_EDITED_TEXT_PIECE : createRecalledPiece(recorded, turn)
  const isIncomplete = !hasSameContent(recorded, copy) && isUneditedReasoning(recorded, copy)
  return isIncomplete
    ? { item: recorded, note: { did: 'changed', why: 'reasoning-replaced' } }
    : { item: copy, note: null }
}

function replayMessage(state: RestoreState, item: Message, isEdited: boolean): void {
  const { replacements, reformattedMessages } = state.textMatch
  const messageIndex = state.nextMessageIndex
  state.nextMessageIndex += 1
  const replacement = replacements[messageIndex] ?? null
  if (replacement !== null && replacement !== item) addPiece(state, createEditedPiece(replacement))
  else if (replacement !== null)
    addPiece(state, {
      item,
      note: reformattedMessages.has(messageIndex) ? TEXT_RESTORED_NOTE : null,
    })
  // The client's text replaces all messages of an edited turn, and has a note of its own.
  else if (!isEdited) addPiece(state, createDroppedPiece('text-removed'))
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
