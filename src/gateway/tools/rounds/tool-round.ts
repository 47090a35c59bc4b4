/**
 * Defines a finished tool round: one upstream request of an answer, the model's items, and the outputs of
 * the gateway calls.
 */
import type { Transform } from '../../../context/transform-interface.ts'
import type { Item } from '../../../core/item.ts'
import type { LoadedMedia } from '../../../media/loading/load-result-types.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { FinishedRound } from './merge-round-events.ts'

export interface ToolRound extends Pick<FinishedRound, 'modelItems' | 'usage'> {
  /** The upstream request of the round. */
  readonly prepared: PreparedRequest
  readonly outputs: readonly Item[]
  /** Transforms that fit the media in the outputs to what the upstream accepts. */
  readonly mediaTransforms: readonly Transform[]
  /** Media in the outputs that the gateway loaded for the upstream; null if there are none. */
  readonly loadedMedia: LoadedMedia | null
}

export type ToolRounds = readonly [...ToolRound[], ToolRound]
