/**
 * Finds the recorded items of an answer that the user has deleted from it in the client, e.g. with the "–" buttons of Open
 * WebUI's edit box. The client sends back all calls that it ran, and a reference beside each thought, so a missing one was
 * deleted.
 */
import type { Item } from '../../core/item.ts'
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import {
  isReferenceExpected,
  readReasoningReferences,
} from '../../core/markers/reasoning-reference.ts'
import { removeDetailsBlocks } from '../../core/text/remove-details-blocks.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'

/** The kinds of items that a client always sends back. If such an item is missing, the user has deleted it. */
export interface DeletionRule {
  /** True if the client sends back all calls that it ran. */
  readonly returnsCalls: boolean
  /** The requested model, if the client sends back references beside the reasoning of this model; else null. */
  readonly returnsThoughtsOf: string | null
}

export const NO_DELETIONS: DeletionRule = { returnsCalls: false, returnsThoughtsOf: null }

/** True if calls that are missing in these items were deleted. Open WebUI before 0.10 wrote calls into the text. */
export function areMissingCallsDeleted(
  { returnsCalls }: DeletionRule,
  clientItems: readonly Item[],
): boolean {
  return returnsCalls && !clientItems.some(hasDetailsBlock)
}

function hasDetailsBlock(item: Item): boolean {
  return (
    item.type === 'message' &&
    item.content.some(
      (part) => part.type === 'output_text' && removeDetailsBlocks(part.text) !== part.text,
    )
  )
}

/** Returns the recorded thoughts whose references the client no longer sends. */
export function findDeletedThoughts(
  { returnsThoughtsOf: model }: DeletionRule,
  turns: readonly RecordedTurn[],
  { fingerprint }: Segment,
  clientItems: readonly Item[],
): ReadonlySet<Item> {
  // The client sends no references with an answer without text and calls.
  if (model === null || fingerprint === null) return NONE
  const sent = new Set(
    clientItems.flatMap((item) =>
      readReasoningReferences(item).map(({ turnId, itemIndex }) => `${turnId}.${itemIndex}`),
    ),
  )
  return new Set(
    turns.flatMap((turn) => {
      // Of an answer that was stopped or has failed, the client may not have received the reference.
      if (turn.isComplete !== true) return []
      return removeGatewayToolItems(turn.output).filter(
        (item, index) => isReferenceExpected(item, model) && !sent.has(`${turn.id}.${index}`),
      )
    }),
  )
}

const NONE: ReadonlySet<Item> = new Set()
