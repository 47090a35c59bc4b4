/** Defines a finished tool round: one upstream request of an answer, and the outputs of its calls. */
import type { Transform } from '../../../context/transform-interface.ts'
import type { Item } from '../../../core/item.ts'
import type { LoadedMedia } from '../../../media/loading/load-result-types.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { FinishedRound } from './merge-round-events.ts'

/** A round that is over, with what its calls were answered. */
export interface ToolRound extends Pick<FinishedRound, 'said' | 'usage'> {
  /** As it was sent. */
  readonly prepared: PreparedRequest
  readonly outputs: readonly Item[]
  /** What is done to media, if there are any among the outputs. */
  readonly media: readonly Transform[]
  /** What had to be loaded of them. */
  readonly loaded: LoadedMedia | null
}

export type ToolRounds = readonly [ToolRound, ...ToolRound[]]
