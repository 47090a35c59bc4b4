/**
 * What is done to media that the house answers with, as it would be done to those of the request: loaded
 * for an upstream that does not load them, and in the form and size that it takes. Nearly always there
 * are none.
 */
import { partsOf } from '../../../core/media/media-handles.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import type { LoadedMedia } from '../../../media/loading/load-result-types.ts'
import { mediaSteps } from '../../prompt/list-upstream-media-transforms.ts'
import type { Transform } from '../../../context/transform-interface.ts'
import type { World } from '../../dependencies-interface.ts'
import type { Prepared } from '../../prompt/prepare-request.ts'
import { withMedia, type Asking } from '../../prompt/additions/load-remote-media.ts'

export interface MediaOfOutputs {
  readonly media: readonly Transform[]
  /** `null` if nothing had to be. */
  readonly loaded: LoadedMedia | null
  readonly letGo: () => void
}

export async function mediaOfOutputs(
  outputs: readonly FunctionCallOutput[],
  prepared: Prepared,
  asker: Pick<Asking, 'caller' | 'turnId' | 'after'>,
  world: World,
): Promise<MediaOfOutputs> {
  if (outputs.every((output) => partsOf(output).length === 0)) return NONE
  const { inbound, history, prompt, account } = prepared
  const { media: _asked, ...before } = history
  const answered = { ...prepared, prompt: { ...prompt, items: outputs } }
  const asking = {
    ...asker,
    inbound: { ...inbound, items: outputs },
    history: { ...before, items: [] },
    plan: () => answered,
  }
  const { history: shown, letGo } = await withMedia(asking, world)
  const loaded = shown.media ?? null
  return { media: mediaSteps(account, loaded, world.settings), loaded, letGo }
}

const NONE: MediaOfOutputs = { media: [], loaded: null, letGo: () => undefined }
