/** What is done to the media of a conversation for one upstream, last of all that is done to it. */
import type { Account } from '../../providers/provider-interface.ts'
import type { Transform } from '../../context/transform-interface.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { correctMediaTypes } from '../../media/transforms/correct-or-hide-mislabeled-media.ts'
import { hideMediaOverLimit } from '../../media/transforms/hide-media-over-limit.ts'
import type { LoadedMedia } from '../../media/loading/load-result-types.ts'
import { resolveMediaSupport } from '../../media/resolve-upstream-media-support.ts'
import { blockPrivateUrls } from '../../media/transforms/block-private-urls.ts'
import { embedLoadedMedia } from '../../media/transforms/embed-loaded-media.ts'

export function listUpstreamMediaTransforms(
  account: Account,
  loaded: LoadedMedia | null,
  { MEDIA_FETCH_ALLOW }: Pick<Settings, 'MEDIA_FETCH_ALLOW'>,
): readonly Transform[] {
  const reader = resolveMediaSupport(account)
  const { maxImageChars, maxRequestChars } = reader
  return [
    ...(loaded === null ? [] : [embedLoadedMedia(loaded, reader)]),
    correctMediaTypes(),
    // Behind what tells an address from an image that stands in its place.
    blockPrivateUrls(reader, MEDIA_FETCH_ALLOW),
    // Last, because what was loaded counts as well.
    ...(maxImageChars === null && maxRequestChars === null ? [] : [hideMediaOverLimit(reader)]),
  ]
}
