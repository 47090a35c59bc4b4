/** A question that shows more than its model takes is refused here, in words that help. */
import { GatewayError } from '../errors.ts'
import { tooLargeToSend } from '../media/fit-media.ts'
import { mediaReader } from '../media/media-reader.ts'
import type { Prepared } from './prepare.ts'
import { listOf, placeIn } from './unsupported.ts'

/** The same, if it can be sent. Throws a GatewayError. */
export function refuseTooLarge(prepared: Prepared): Prepared {
  const { account, prompt, places, inbound } = prepared
  const fault = inbound.generates ? tooLargeToSend(prompt.items, mediaReader(account)) : null
  if (fault === null) return prepared
  const place = places[fault.at] ?? null
  const param = place === null ? listOf(inbound) : placeIn(prepared, place)
  throw new GatewayError('invalid_value', fault.sentence, { param })
}
