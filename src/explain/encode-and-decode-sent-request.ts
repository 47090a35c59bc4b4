/**
 * Encodes a sent request and its explanation as the texts that are stored, and decodes them. If the
 * client's bytes were forwarded unchanged, the items are not stored, because they can be derived from the
 * body.
 */
import { isObject, tryParseJsonObject } from '../core/json/json.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildHttpRequest } from '../gateway/send/build-http-request.ts'
import type { SentRequest } from '../store/upstream-requests/upstream-request-store-interface.ts'
import { decodeBodyText } from '../upstream/transport/decode-body-text.ts'
import {
  explainPreparedRequest,
  collectRequestMetadata,
  type Explanation,
  type ExplanationSummary,
  type RequestMetadata,
} from './build-explanation.ts'
import { explainUnchangedRequest, isUnchangedRequest } from './explain-unchanged-request.ts'
import type { ItemDisposition } from './item-dispositions.ts'

/** The explanation of a request, with the body that was sent. */
export interface ExplainedRequest extends Explanation {
  readonly body: string
}

/** Value of the stored `items` if the client's bytes were forwarded unchanged. */
const UNCHANGED_REQUEST = ''

/** Returns the texts to store for a sent request: its body, and its dispositions and summary as JSON. */
export function encodeSentRequest(
  prepared: PreparedRequest,
  { settings }: Ports<'settings'>,
): SentRequest {
  const request = buildHttpRequest(prepared)
  const body = decodeBodyText(request)
  if (isUnchangedRequest(prepared)) {
    const about = JSON.stringify(collectRequestMetadata(prepared, request, settings))
    return { body, items: UNCHANGED_REQUEST, about }
  }
  const { summary, dispositions } = explainPreparedRequest(prepared, request, settings)
  // The store saves only the difference to the previous request. It is small, because the dispositions of
  // the next request begin with the same text.
  return { body, items: JSON.stringify(dispositions), about: JSON.stringify(summary) }
}

/** Decodes a stored request; null if this version of the gateway cannot read it. */
export function decodeSentRequest(sent: SentRequest): ExplainedRequest | null {
  const { body, items } = sent
  const about = tryParseJsonObject(sent.about)
  if (about === null || !isObject(about['upstream'])) return null
  const explanation =
    items === UNCHANGED_REQUEST
      ? explainUnchangedRequest(about as RequestMetadata, body)
      : {
          summary: about as ExplanationSummary,
          dispositions: JSON.parse(items) as readonly ItemDisposition[],
        }
  return explanation === null ? null : { ...explanation, body }
}
