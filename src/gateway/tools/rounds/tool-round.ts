/** Defines a finished tool round: one upstream request of an answer, and the outputs of its calls. */
import type { Transform } from '../../../context/transform-interface.ts'
import type { Item } from '../../../core/item.ts'
import type { LoadedMedia } from '../../../media/loading/load-result-types.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { FinishedRound } from './merge-round-events.ts'

export interface ToolRound extends Pick<FinishedRound, 'modelItems' | 'usage'> {
  /** The request as it was sent. */
  readonly prepared: PreparedRequest
  readonly outputs: readonly Item[]
  /** The transforms for media in the outputs. */
  readonly mediaTransforms: readonly Transform[]
  /** The media of the outputs that the gateway loaded; null if there are none. */
  readonly loadedMedia: LoadedMedia | null
}

export type ToolRounds = readonly [ToolRound, ...ToolRound[]]
