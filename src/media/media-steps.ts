/** What is done to the media of a conversation for one upstream, last of all that is done to it. */
import type { Account } from '../provider/provider.ts'
import type { Transform } from '../rebuild/transform.ts'
import { correctTypes } from './correct-types.ts'
import { fitMedia } from './fit-media.ts'
import type { LoadedMedia } from './loaded-media.ts'
import { mediaReader } from './media-reader.ts'
import { showLoaded } from './show-loaded.ts'

export function mediaSteps(account: Account, loaded: LoadedMedia | null): readonly Transform[] {
  const reader = mediaReader(account)
  const { isStrict, imageChars, requestChars } = reader
  return [
    ...(loaded === null ? [] : [showLoaded(loaded, reader)]),
    ...(isStrict ? [correctTypes()] : []),
    // Last, because what was loaded counts as well.
    ...(imageChars === null && requestChars === null ? [] : [fitMedia(reader)]),
  ]
}
