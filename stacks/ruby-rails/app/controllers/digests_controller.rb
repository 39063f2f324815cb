# frozen_string_literal: true

class DigestsController < ApplicationController
  # From 1 to 1000000.
  ROUNDS = /\A(?:[1-9][0-9]{0,5}|1000000)\z/

  def show
    rounds = params[:rounds].to_s
    raise ActionController::BadRequest, "rounds is a number from 1 to 1000000" unless ROUNDS.match?(rounds)

    # OpenSSL uses the CPU's SHA instructions; Ruby's own Digest does not.
    sha = OpenSSL::Digest.new("SHA256")
    digest = sha.digest(File.binread(Rails.configuration.x.blob_path))
    (rounds.to_i - 1).times { digest = sha.reset.digest(digest) }
    render plain: Base64.strict_encode64(digest)
  end
end
