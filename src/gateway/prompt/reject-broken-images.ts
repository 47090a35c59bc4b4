/**
 * Rejects a request with a broken image in its latest user message, as OpenAI does. In an earlier message, a notice
 * replaces the image, so that the chat can continue.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { listContentParts } from '../../core/media/media-handles.ts'
import { isBrokenImage } from '../../media/transforms/correct-or-hide-mislabeled-media.ts'
import type { PlannedRequest } from './planned-request.ts'
import { formatItemPath } from './request-item-path.ts'

/** Returns `plan` if the images of the latest user message can be read; throws a GatewayError otherwise. */
export function rejectBrokenImages<Plan extends PlannedRequest>(plan: Plan): Plan {
  const { items, history, clientRequest } = plan
  if (!clientRequest.generatesAnswer) return plan
  const index = items.findLastIndex(isUserMessage)
  const message = items[index]
  // Only a message of this request can be corrected by the client.
  if (message === undefined || index < history.items.length) return plan
  const partIndex = listContentParts(message).findIndex(isBrokenImage)
  if (partIndex < 0) return plan
  throw new GatewayError(
    'invalid_base64_image',
    'Invalid base64 image: the data of the image cannot be decoded. Send the complete file in base64, as `data:image/png;base64,…` with the type of the image.',
    { param: `${formatItemPath(plan, index)}.content[${partIndex}]` },
  )
}
