/** Width, height and channels of the images that rows are: row by row from the top left, the channels of a pixel together. */
export interface ImageShape {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}
