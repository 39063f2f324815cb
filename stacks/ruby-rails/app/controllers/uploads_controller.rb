# frozen_string_literal: true

class UploadsController < ApplicationController
  PIECE_BYTES = 64 * 1024

  # Puma has put a body of this size into a file.
  def create
    sha = OpenSSL::Digest.new("SHA256")
    piece = String.new(capacity: PIECE_BYTES)
    sha << piece while request.body.read(PIECE_BYTES, piece)
    render plain: Base64.strict_encode64(sha.digest)
  end
end
