/**
 * Defines the limits that prevent one client from blocking others: connections, slow requests, background
 * responses, and the total time of an answer.
 */
import { createWholeNumberOrOffReader, defineWholeNumber, nullIfOff } from './scalar-readers.ts'

const DAY_SECONDS = 86_400
/** JavaScript's timers have a maximum of 24.8 days. */
const MAX_TIMEOUT_SECONDS = 7 * DAY_SECONDS

export const LIMIT_SETTINGS = {
  MAX_CONNECTIONS: defineWholeNumber(
    5_000,
    [1, 1_000_000],
    'Maximum number of open connections of clients, WebSockets included. Further connections are closed at once. Not on Workers.',
  ),
  WEBSOCKETS_PER_KEY: defineWholeNumber(
    500,
    [1, 1_000_000],
    'Maximum number of open WebSockets of an API key in a process. Further ones get an error (429).',
  ),
  HEADER_TIMEOUT_SECONDS: defineWholeNumber(
    30,
    [1, 3_600],
    'How long a client may take to send the headers of a request. Then it gets an error (408). Not on Workers.',
  ),
  BODY_TIMEOUT_SECONDS: defineWholeNumber(
    30,
    [1, 3_600],
    'How long a client may send nothing in the middle of a request body or of a WebSocket message. Then it gets an error (408), or its WebSocket is closed. Not on Workers.',
  ),
  BODY_MIN_KB_PER_SECOND: defineWholeNumber(
    4,
    [0, 1_000_000],
    'Minimum average speed of a request body or of a WebSocket message, counted from `BODY_TIMEOUT_SECONDS` after its start; `0` for none. A slower client gets the same error. A client that reads the end of its answer more slowly is disconnected. Not on Workers.',
  ),
  KEEP_ALIVE_SECONDS: defineWholeNumber(
    75,
    [1, 3_600],
    'How long a connection stays open between two requests. Should be longer than the same time of the load balancer or proxy before the gateway, usually 60: a request that arrives while the gateway closes the connection gets no answer. Not on Workers.',
  ),
  REQUEST_TIMEOUT_SECONDS: defineSecondsOrOff(
    3_600,
    'How long a request may take in all, from its headers to the last byte of its answer. Then its upstream request is canceled, and the answer ends as failed (504 if nothing was sent yet); `off` for no limit.',
  ),
  BACKGROUND_TIMEOUT_SECONDS: defineSecondsOrOff(
    DAY_SECONDS,
    'How long a background response may take from its start; its time in the queue does not count. Then it ends as failed; `off` for no limit.',
  ),
  BACKGROUND_RUNS: defineWholeNumber(
    400,
    [1, 100_000],
    'Maximum number of background responses that a process generates at the same time. Further ones stay `queued` in the database, and API keys take turns. Not on Workers.',
  ),
  BACKGROUND_RUNS_PER_KEY: defineWholeNumber(
    100,
    [1, 100_000],
    'Maximum number of background responses that a process generates at the same time for an API key. Counted separately, but with the same limits: streams that can continue without their client (`x-backstory-resumable`, `Idempotency-Key`); further ones get an error (429). Not on Workers.',
  ),
  BACKGROUND_QUEUE_PER_KEY: defineWholeNumber(
    1_000,
    [0, 1_000_000],
    'Maximum number of queued background responses of an API key in a process. Further ones get an error (429). Not on Workers.',
  ),
}

function defineSecondsOrOff(defaultSeconds: number, description: string) {
  return {
    default: defaultSeconds as number | null,
    read: (raw: unknown) => nullIfOff(createWholeNumberOrOffReader(1, MAX_TIMEOUT_SECONDS)(raw)),
    description,
  }
}
