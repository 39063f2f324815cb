# frozen_string_literal: true

class User < ApplicationRecord
  scope :first_ten, -> { select(:id, :email).order(:id).limit(10) }
end
