/** What is done to the media of a conversation for one upstream, last of all that is done to it. */
import type { Account } from '../../providers/provider-interface.ts'
import type { Transform } from '../../context/transform-interface.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { correctTypes } from '../../media/transforms/correct-or-hide-mislabeled-media.ts'
import { fitMedia } from '../../media/transforms/hide-media-over-limit.ts'
import type { LoadedMedia } from '../../media/loading/load-result-types.ts'
import { mediaReader } from '../../media/resolve-upstream-media-support.ts'
import { refuseAddresses } from '../../media/transforms/block-private-urls.ts'
import { showLoaded } from '../../media/transforms/embed-loaded-media.ts'

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
