/** Defines a route for stored data, and the checks of ids and queries that such routes share. */
import type { JsonObject } from '../../core/json/json.ts'
import {
  createInvalidFieldError,
  createMissingFieldError,
  readOptional,
} from '../../dialects/checks/check-json-types.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { AuthenticatedRequest, RouteOptions } from '../authenticate-request.ts'

export interface StoredObjectRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path without `/v1`, with parameters, for example `/responses/:id`. */
  readonly path: string
  /**
   * Serves a request. Resolves to null to leave the request to the next route with the same path.
   */
  readonly handle: (
    request: AuthenticatedRequest,
    ports: GatewayDependencies,
  ) => Promise<JsonObject | null>
  readonly options?: RouteOptions
}

/** Reads the field `metadata` of a body in which it is required. */
export async function readMetadata({ readJsonObject }: AuthenticatedRequest): Promise<JsonObject> {
  const { metadata } = await readJsonObject()
  if (metadata === undefined) throw createMissingFieldError('metadata')
  return readOptional(asMetadata, metadata, 'metadata') ?? {}
}

/**
 * Returns the id if it begins with the prefix. Otherwise throws an error with status 400, e.g. for
 * `conv_1` with the prefix `resp`.
 */
export function requireIdPrefix(id: string, prefix: string, param: string): string {
  if (id.startsWith(`${prefix}_`)) return id
  const reason = `'${shortenForError(id)}'. Expected an ID that begins with '${prefix}'.`
  throw createInvalidFieldError(param, reason)
}

/** Truncates an id after 80 characters, so that an error message stays readable. */
export function shortenForError(id: string): string {
  return id.length > 80 ? `${id.slice(0, 80)}…` : id
}

/**
 * Returns the values of `include` in each form that clients use: `include=a`, `include[]=a`,
 * `include[0]=a`.
 */
export function readInclude(query: URLSearchParams): readonly string[] {
  return [...query].flatMap(([name, value]) => (/^include(\[\d*\])?$/.test(name) ? [value] : []))
}
