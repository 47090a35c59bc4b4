/** What is done to the media of a conversation for one upstream, last of all that is done to it. */
import type { Account } from '../provider/provider.ts'
import type { Transform } from '../rebuild/transform.ts'
import type { Settings } from '../settings.ts'
import { correctTypes } from './correct-types.ts'
import { fitMedia } from './fit-media.ts'
import type { LoadedMedia } from './loaded-media.ts'
import { mediaReader } from './media-reader.ts'
import { refuseAddresses } from './refuse-addresses.ts'
import { showLoaded } from './show-loaded.ts'

export function mediaSteps(
  account: Account,
  loaded: LoadedMedia | null,
  { MEDIA_FETCH_ALLOW }: Pick<Settings, 'MEDIA_FETCH_ALLOW'>,
): readonly Transform[] {
  const reader = mediaReader(account)
  const { imageChars, requestChars } = reader
  return [
    ...(loaded === null ? [] : [showLoaded(loaded, reader)]),
    correctTypes(),
    // Behind what tells an address from an image that stands in its place.
    refuseAddresses(reader, MEDIA_FETCH_ALLOW),
    // Last, because what was loaded counts as well.
    ...(imageChars === null && requestChars === null ? [] : [fitMedia(reader)]),
  ]
}
