/**
 * Amounts by the name of the resource: cpu in millicores, memory and storage in bytes, everything else (`pods`,
 * devices) in pieces. A resource that is absent is 0.
 */
export type Resources = Readonly<Record<string, number>>;
