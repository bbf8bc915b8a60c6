/** 0x and hexadecimal digits. Addresses and hashes are in lower case everywhere. */
export type Hex = `0x${string}`
