/**
 * A stream of Chat Completions chunks as events. It takes what the services in the facts really send
 * (ids and indices missing or repeated, usage anywhere, errors next to choices, no ending mark) and
 * never throws. The ending waits for `[DONE]` or the end of the body, because usage may come behind
 * the reason to finish.
 */
import { isObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import type { Decoder } from '../../provider-interface.ts'
import { createChunkReader, type DecodeOptions } from './chunk-reader.ts'
import { parseStreamError } from '../parse-errors.ts'

export function decodeStream(options: DecodeOptions): Decoder {
  const reader = createChunkReader(options)
  return {
    push({ event, data }) {
      if (reader.isOver() || data === '') return NO_OUTPUT
      if (data.startsWith('[DONE]')) return reader.endAnswer()
      let json: unknown
      try {
        json = JSON.parse(data)
      } catch {
        return reader.fail(event === 'error' ? parseStreamError(data) : BROKEN_JSON)
      }
      return isObject(json) ? reader.readChunk(json) : NO_OUTPUT
    },
    end: () => (reader.isOver() ? NO_OUTPUT : reader.endBody()),
  }
}

const BROKEN_JSON = createFailure('upstream_broken', 'The upstream sent a chunk that is not JSON.')
