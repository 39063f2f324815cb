# frozen_string_literal: true

class DigestsController < ApplicationController
  # From 1 to 1000000.
  ROUNDS = /\A(?:[1-9][0-9]{0,5}|1000000)\z/

  def show
    rounds = params[:rounds].to_s
    raise ActionController::BadRequest, "rounds is a number from 1 to 1000000" unless ROUNDS.match?(rounds)

    digest = Digest::SHA256.digest(File.binread(Rails.configuration.x.blob_path))
    (rounds.to_i - 1).times { digest = Digest::SHA256.digest(digest) }
    render plain: Base64.strict_encode64(digest)
  end
end
