/**
 * What is done to media that the house answers with, as it would be done to those of the request: loaded
 * for an upstream that does not load them, and in the form and size that it takes. Nearly always there
 * are none.
 */
import { partsOf } from '../conversation/media-handles.ts'
import type { FunctionCallOutput } from '../conversation/item.ts'
import type { LoadedMedia } from '../media/loaded-media.ts'
import { mediaSteps } from '../media/media-steps.ts'
import type { Transform } from '../rebuild/transform.ts'
import type { World } from '../world.ts'
import type { Prepared } from './prepare.ts'
import { withMedia, type Asking } from './with-media.ts'

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
